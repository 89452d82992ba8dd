package csar

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// KubernetesFiles returns the artifacts that hold Kubernetes manifests, in the order in which
// the package lists them: YAML and JSON files of the package whose documents all have apiVersion and kind. Left out
// are definitions and Heat templates, Helm charts, non-MANO artifacts, tests, and
// documents that are files for a client rather than objects of an API (kustomizations, kubeconfigs).
func (p *Package) KubernetesFiles(a Archive) []string {
	var files []string
	for _, artifact := range p.Artifacts {
		if !artifact.External && artifact.Size <= maxTextBytes && p.mayHoldObjects(a, artifact.Path) && holdsObjects(a, artifact.Path) {
			files = append(files, artifact.Path)
		}
	}
	return files
}

func (p *Package) mayHoldObjects(a Archive, name string) bool {
	if !isYAML(name) && !strings.EqualFold(path.Ext(name), ".json") {
		return false
	}
	if name == p.Entry {
		return false
	}
	for _, dir := range []string{"Definitions", "BaseHOT", "TOSCA-Metadata", p.Tests} {
		if dir != "" && strings.HasPrefix(name, dir+"/") {
			return false
		}
	}
	for _, set := range p.NonMANO {
		if slices.Contains(set, name) {
			return false
		}
	}
	for d := path.Dir(name); d != "."; d = path.Dir(d) {
		if _, err := fs.Stat(a, d+"/Chart.yaml"); err == nil {
			return false
		}
	}
	return true
}

// holdsObjects reports that every document of a file is an object of an API. A file that is no
// YAML, a chart's template for example, is none.
func holdsObjects(a Archive, name string) bool {
	data, err := a.ReadFile(name)
	if err != nil {
		return false
	}
	docs, err := yamlDocuments(string(data))
	if err != nil || len(docs) == 0 {
		return false
	}
	for _, doc := range docs {
		if !isObject(doc) {
			return false
		}
	}
	return true
}

func isObject(doc *yaml.Node) bool {
	if doc.Kind != yaml.MappingNode {
		return false
	}
	version, kind := mapValue(doc, "apiVersion"), mapValue(doc, "kind")
	if version == nil || kind == nil || version.Kind != yaml.ScalarNode || kind.Kind != yaml.ScalarNode || version.Value == "" || kind.Value == "" {
		return false
	}
	clientFile := strings.HasPrefix(version.Value, "kustomize.config.k8s.io/") || version.Value == "v1" && kind.Value == "Config"
	return !clientFile
}
