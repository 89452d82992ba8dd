// Command render writes the manifests of Cluster API's providers, as `lab up --capi` reads them: of each provider's
// config folder, in the module it is released with, the custom resource definitions and the webhooks. What makes sense
// inside a cluster alone is left out, since the lab runs the managers as processes.
//
// Usage: render FOLDER NAME=KUSTOMIZATION ...
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: render FOLDER NAME=KUSTOMIZATION ...")
		os.Exit(2)
	}
	for _, argument := range os.Args[2:] {
		name, kustomization, _ := strings.Cut(argument, "=")
		if err := render(kustomization, filepath.Join(os.Args[1], name+".yaml")); err != nil {
			fmt.Fprintf(os.Stderr, "render: %v\n", err)
			os.Exit(1)
		}
	}
}

// kept are the kinds that a manager needs when it does not run in the cluster.
func kept(kind string) bool {
	switch kind {
	case "CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
		return true
	}
	return false
}

func render(kustomization, out string) error {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), kustomization)
	if err != nil {
		return fmt.Errorf("expanding %s: %w", kustomization, err)
	}
	var text bytes.Buffer
	for _, resource := range resources.Resources() {
		if !kept(resource.GetKind()) {
			continue
		}
		document, err := resource.AsYAML()
		if err != nil {
			return fmt.Errorf("encoding %s %s of %s: %w", resource.GetKind(), resource.GetName(), kustomization, err)
		}
		text.WriteString("---\n")
		text.Write(document)
	}
	if text.Len() == 0 {
		return fmt.Errorf("%s holds no custom resource definition", kustomization)
	}
	return os.WriteFile(out, text.Bytes(), 0o600) //nolint:gosec // The build says where.
}
