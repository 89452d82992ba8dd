// Command render writes the manifests of Cluster API's providers, as `lab up --capi` and `lab components` read them: of
// each provider's config folder, in the module it is released with, everything that a management cluster has of it.
//
// A folder is what a release is made from, not the release: the images have no version yet, and clusterctl's variables
// are still in it. They get what a release would have, and the features that the lab is for.
//
// Usage: render FOLDER VERSION NAME=KUSTOMIZATION ...
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// values are the variables that do not have their default.
var values = map[string]string{
	"CLUSTER_TOPOLOGY": "true",
	"EXP_RUNTIME_SDK":  "true",
}

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: render FOLDER VERSION NAME=KUSTOMIZATION ...")
		os.Exit(2)
	}
	for _, argument := range os.Args[3:] {
		name, kustomization, _ := strings.Cut(argument, "=")
		if err := render(kustomization, os.Args[2], filepath.Join(os.Args[1], name+".yaml")); err != nil {
			fmt.Fprintf(os.Stderr, "render: %v\n", err)
			os.Exit(1)
		}
	}
}

func render(kustomization, version, out string) error {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), kustomization)
	if err != nil {
		return fmt.Errorf("expanding %s: %w", kustomization, err)
	}
	var text bytes.Buffer
	for _, resource := range resources.Resources() {
		document, err := resource.AsYAML()
		if err != nil {
			return fmt.Errorf("encoding %s %s of %s: %w", resource.GetKind(), resource.GetName(), kustomization, err)
		}
		text.WriteString("---\n")
		if resource.GetKind() == "Deployment" {
			document = release(document, version)
		}
		text.Write(document)
	}
	if text.Len() == 0 {
		return fmt.Errorf("%s holds nothing", kustomization)
	}
	return os.WriteFile(out, text.Bytes(), 0o600) //nolint:gosec // The build says where.
}

// variable is one of clusterctl's, with its default.
var variable = regexp.MustCompile(`\$\{([A-Z_]+):=([^}]*)\}`)

// release makes of a Deployment what a release has of it.
func release(document []byte, version string) []byte {
	document = variable.ReplaceAllFunc(document, func(found []byte) []byte {
		parts := variable.FindSubmatch(found)
		if value, ok := values[string(parts[1])]; ok {
			return []byte(value)
		}
		return parts[2]
	})
	text := strings.NewReplacer(
		// The development provider is the only one that is never released.
		"gcr.io/k8s-staging-cluster-api/capd-manager:main", "gcr.io/k8s-staging-cluster-api/capd-manager:"+version,
		"gcr.io/k8s-staging-cluster-api/", "registry.k8s.io/cluster-api/",
		":main", ":"+version,
		"gcr.io/k8s-staging-capi-openstack/", "registry.k8s.io/capi-openstack/",
		"capi-openstack-controller:dev", "capi-openstack-controller:"+version,
		// OpenStack Resource Controller.
		"image: controller:latest", "image: quay.io/orc/openstack-resource-controller:"+version,
		"imagePullPolicy: Always", "imagePullPolicy: IfNotPresent",
	).Replace(string(document))
	return []byte(text)
}
