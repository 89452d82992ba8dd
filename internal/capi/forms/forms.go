// Package forms renders the objects of a workload cluster from the form in which the user
// describes it: a topology of a ClusterClass, a Helm chart, or a cluster template of
// clusterctl. It needs no network.
package forms

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The API groups of Cluster API's own kinds, and of its infrastructure providers.
const (
	Group               = "cluster.x-k8s.io"
	GroupInfrastructure = "infrastructure." + Group
)

// form is a description of a workload cluster by a user.
type form interface {
	// objects returns the objects of the cluster.
	objects(spec *vnfm.ClusterSpec, ps *vnfm.Problems) []map[string]any
}

// formOf returns the form of a specification; nil if there is none.
func formOf(spec *vnfm.ClusterSpec, u *Unsettled) form {
	switch {
	case spec.Topology != nil:
		return topology{spec.Topology}
	case spec.Template != nil:
		return template{spec.Template}
	case spec.Chart != nil:
		return chart{spec.Chart, u}
	default:
		return nil
	}
}

// Unsettled has the parts of a cluster that depend on future results of random functions of its chart, as in vnfm.Package.
type Unsettled struct {
	Later      []string
	NamesLater bool
}

// Render returns the objects of a cluster, and their unknown parts. It adds problems of the specification to ps; the objects
// are nil after an error.
func Render(spec *vnfm.ClusterSpec, ps *vnfm.Problems) ([]map[string]any, Unsettled) {
	var u Unsettled
	f := formOf(spec, &u)
	if f == nil {
		//findings:says set topology, chart, clusterctl_template or cluster_template
		ps.Errorf("", 0, 0, "the workload cluster has neither a topology nor a chart nor a template")
		return nil, u
	}
	if check(spec, ps); ps.HasErrors() {
		return nil, u
	}
	return f.objects(spec, ps), u
}

// Decode reads the documents of a YAML stream, without empty ones.
func Decode(text string) ([]map[string]any, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
	var out []map[string]any
	for {
		var o map[string]any
		err := decoder.Decode(&o)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(o) > 0 {
			out = append(out, o)
		}
	}
}

// Child returns the map at a field. It creates a missing map.
func Child(parent map[string]any, field string) map[string]any {
	m, ok := parent[field].(map[string]any)
	if !ok {
		m = map[string]any{}
		parent[field] = m
	}
	return m
}

// StringAt returns the string at a path of fields; empty if there is none.
func StringAt(o map[string]any, path ...string) string {
	for _, field := range path[:len(path)-1] {
		o, _ = o[field].(map[string]any)
	}
	s, _ := o[path[len(path)-1]].(string)
	return s
}

// GroupOf returns the API group of an apiVersion.
func GroupOf(apiVersion string) string {
	name, _, _ := strings.Cut(apiVersion, "/")
	return name
}

// SortedKeys returns the keys of a map in order.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
