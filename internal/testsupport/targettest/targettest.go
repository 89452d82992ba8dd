// Package targettest makes targets of infra drivers for tests: packages of Kubernetes
// manifests or of a Helm chart, without a VIM.
package targettest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"testing/fstest"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Digest is that of a package with these files.
func Digest(files map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(sum, "%q %q ", name, files[name])
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Manifests is a target of a package with these files, all of them manifests,
// and with one VDU per entry of counts, named like its id.
func Manifests(files map[string]string, counts map[string]int) *vnfm.Target {
	content := fstest.MapFS{}
	p := &vnfm.Package{
		ID:         "core@sha256:1",
		Name:       "core",
		Digest:     Digest(files),
		Descriptor: &vnfm.Descriptor{ID: "vnfd-1"},
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content[name] = &fstest.MapFile{Data: []byte(files[name])}
		p.KubernetesFiles = append(p.KubernetesFiles, name)
	}
	p.Content = content
	f := &vnfm.Flavour{ID: "simple"}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		f.VDUs = append(f.VDUs, vnfm.VDU{ID: id, Name: id})
	}
	return &vnfm.Target{
		Instance:  &vnfm.Instance{ID: "i-1", Name: "core-1", OperationalState: vnfm.Started},
		Package:   p,
		Flavour:   f,
		Counts:    counts,
		DigestKey: []byte("key"),
	}
}

// Chart is a target of a package that holds a chart "core" with these files
// besides Chart.yaml, and with one VDU per entry of counts.
func Chart(files map[string]string, counts map[string]int) *vnfm.Target {
	t := Manifests(nil, counts)
	t.Package.Digest = Digest(files)
	content := fstest.MapFS{"Files/core/Chart.yaml": {Data: []byte("apiVersion: v2\nname: core\nversion: 1.0.0\n")}}
	for name, text := range files {
		content["Files/core/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, name := range slices.Sorted(maps.Keys(content)) {
		t.Package.Files = append(t.Package.Files, vnfm.PackageFile{Path: name})
	}
	t.Package.Content = content
	t.Instance.Namespace = "ran"
	t.Flavour.MCIOPs = []vnfm.MCIOP{{ID: "chart", File: "Files/core"}}
	return t
}
