package csar

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/manifests"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// KubernetesFiles returns the artifacts that hold Kubernetes manifests, in the order in which
// the package lists them: YAML and JSON files of the package of which one document has apiVersion and kind. Left out
// are definitions and Heat templates, Helm charts, non-MANO artifacts, tests, and
// documents that are files for a client rather than objects of an API (kustomizations, kubeconfigs).
// It is a problem when the budget does not reach for all files, and a warning when one is too large to be looked at.
func (p *Package) KubernetesFiles(b *budget.Budget, a Archive) ([]string, vnfm.Problems) {
	var files []string
	var problems vnfm.Problems
	defer func() { problems.Under(ruleObjects) }()
	var candidates []string
	for _, artifact := range p.Artifacts {
		if !artifact.External && artifact.Size <= maxTextBytes && p.mayHoldObjects(a, artifact.Path) {
			candidates = append(candidates, artifact.Path)
		}
	}
	type looked struct {
		holds    bool
		problems vnfm.Problems
		err      error
	}
	all := budget.Each(b, len(candidates), func(b *budget.Budget, i int) (out looked) {
		if out.err = b.Err(); out.err == nil {
			out.holds = holdsObjects(b, a, candidates[i], &out.problems)
			out.err = b.Err()
		}
		return out
	})
	for i, found := range all {
		problems = append(problems, found.problems...)
		if found.err != nil {
			//findings:says make the YAML and JSON files of the package fewer or smaller
			problems.Errorf(candidates[i], 0, 0, "cannot be read: the package has %v", found.err)
			return nil, problems
		}
		if found.holds {
			files = append(files, candidates[i])
		}
	}
	return files, problems
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

// holdsObjects reports that one document of a file is an object of an API; each other one is then a problem. A file that is no
// YAML, a chart's template for example, is none. Other problems of a file that begins with objects are reported when it is used.
func holdsObjects(b *budget.Budget, a Archive, name string, problems *vnfm.Problems) bool {
	if manifests.HoldsObjects(b, a, name) {
		return true
	}
	data, err := a.ReadFile(name)
	if err != nil {
		return false
	}
	if err := yamlpos.Fits(data); err != nil {
		//findings:says split the file if it holds objects
		problems.Warnf(name, 0, 0, "is not searched for Kubernetes manifests: it has %v", err)
		return false
	}
	_, before := b.Taken()
	docs, found := yamlpos.Parse(b, name, data, yamlpos.Options{LastKeyWins: true})
	// An error of syntax has no column.
	if i := slices.IndexFunc(found, func(p vnfm.Problem) bool { return p.Column == 0 }); i >= 0 {
		if beginsAsObject(data) {
			//findings:says write it as valid YAML; the reason says where it is not
			problems.Errorf(name, found[i].Line, 0, "looks like a Kubernetes manifest and cannot be read: %s", found[i].Summary)
		}
		return false
	}
	if len(docs) == 0 {
		for _, p := range found {
			//findings:says if the file holds objects, change what the reason names
			problems.Warnf(name, p.Line, p.Column, "is not searched for Kubernetes manifests: %s", p.Summary)
		}
		return false
	}
	others := slices.DeleteFunc(slices.Clone(docs), isObject)
	switch {
	case len(others) == len(docs):
		for _, doc := range docs {
			if lack := lacking(doc); lack != "" && !isClientFile(doc) && doc.Get(doc.Root, "metadata") != nil && lack != neither {
				//findings:says write the field that is missing, or move the file out of the artifacts if it holds no objects
				problems.Warnf(name, doc.Root.Line, 0, "looks like a Kubernetes manifest and is not taken as one: it has no %s", lack)
			}
		}
		return false
	case len(others) > 0:
		for _, doc := range others {
			what := "it is a file for a client"
			if lack := lacking(doc); lack != "" {
				what = "it has no " + lack
			}
			//findings:says write apiVersion and kind, look for misspelt or invisible letters, or move what is no object to another file
			problems.Errorf(name, doc.Root.Line, 0, "a document among Kubernetes objects is none: %s", what)
		}
		return true
	}
	if _, values := b.Taken(); len(found) == 0 {
		manifests.KeepObjects(b, name, data, docs, values-before)
	}
	return true
}

// beginsAsObject reports whether a text that is not YAML has the first lines of an object and no template syntax.
func beginsAsObject(data []byte) bool {
	return objectVersion.Match(data) && objectKind.Match(data) && !bytes.Contains(data, []byte("{{"))
}

var (
	objectVersion = lazyregexp.New(`(?m)^apiVersion:`)
	objectKind    = lazyregexp.New(`(?m)^kind:`)
)

func isObject(doc *yamlpos.Document) bool { return lacking(doc) == "" && !isClientFile(doc) }

// neither is the result of lacking for a document without both fields.
const neither = "apiVersion and kind"

// lacking names the missing fields of an object, or returns "".
func lacking(doc *yamlpos.Document) string {
	version, kind := text(doc, "apiVersion") != "", text(doc, "kind") != ""
	switch {
	case version && kind:
		return ""
	case version:
		return "kind"
	case kind:
		return "apiVersion"
	default:
		return neither
	}
}

// isClientFile reports whether a document is a kustomization or a kubeconfig.
func isClientFile(doc *yamlpos.Document) bool {
	version := text(doc, "apiVersion")
	return strings.HasPrefix(version, "kustomize.config.k8s.io/") || version == "v1" && text(doc, "kind") == "Config"
}

// text is a scalar field of a document, or empty.
func text(doc *yamlpos.Document, field string) string {
	if n := doc.Get(doc.Root, field); n != nil && n.Kind == yaml.ScalarNode {
		return n.Value
	}
	return ""
}
