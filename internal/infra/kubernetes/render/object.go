package render

import (
	"cmp"
	"context"
	"encoding/base64"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/manifests"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Object is one object of the package as rendered: without the fields that the server
// writes, without the driver's own labels, and without replicas that a VDU or an autoscaler
// decides on.
type Object struct {
	GVK schema.GroupVersionKind
	// namespace is the one that the manifest names; it may be empty.
	namespace, Name string
	Key             string
	// Digest is empty when the target lacks the key that it needs.
	Digest  string
	Content map[string]any
	// keyed is set when the digest depends on the key: the object holds secrets, or its pods
	// read those of the package.
	keyed bool
	// later is set when the object depends on results of random functions that are not made
	// yet: it has no digest.
	later bool
	// reads are the ConfigMaps and Secrets of the package that its pods read.
	reads []Identity
	Wave  int
	// Scaling is set when a VDU or an autoscaler decides on the replicas, not the manifest.
	Scaling *Scaling
	// Shared is set for an object that several instances use.
	Shared bool
	// Rule says when the object is ready; nil leaves it to its kind.
	Rule *readiness.Rule

	// warnings are of fields that its kind does not have or misses.
	warnings vnfm.Problems
	// written is what its file says; nil where that is not kept.
	written      *manifests.Written
	file         string
	line, column int
}

// Field returns a nested field of the content as it is, not a copy of it; nil for none.
func (o *Object) Field(path ...string) any { return fieldOf(o.Content, path...) }

func fieldOf(content map[string]any, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(content, path...)
	return value
}

func (o *Object) isSecret() bool { return o.GVK.Group == "" && o.GVK.Kind == "Secret" }

// Place is the file and, as far as known, the line of the object.
func (o *Object) Place() string { return vnfm.Problem{File: o.file, Line: o.line}.Location() }

// Problem appends an error at the place of the object.
func (o *Object) Problem(ps *vnfm.Problems, summary, detail string) {
	*ps = append(*ps, vnfm.Problem{File: o.file, Line: o.line, Column: o.column, Summary: summary, Detail: detail})
}

// ObjectKey is the identity of an object as its manifest writes it:
// "group/version/Kind namespace/name", without group for the core group and
// without namespace when the manifest names none.
func ObjectKey(gvk schema.GroupVersionKind, namespace, name string) string {
	var b strings.Builder
	if gvk.Group != "" {
		b.WriteString(gvk.Group + "/")
	}
	b.WriteString(gvk.Version + "/" + gvk.Kind + " ")
	if namespace != "" {
		b.WriteString(namespace + "/")
	}
	b.WriteString(name)
	return b.String()
}

// Identity identifies an object on the server, whatever version of its API it is written
// in.
type Identity struct {
	Group, Kind, Namespace, Name string
}

// IdentityOf returns the identity of an inventory item.
func IdentityOf(i *vnfm.InventoryItem) Identity {
	return Identity{i.Group, i.Kind, i.Namespace, i.Name}
}

// Rendering is everything that a target asks for.
type Rendering struct {
	Objects []*Object
	// VDUs maps VDU ids to their workloads.
	VDUs map[string]*Object
	// States are the wanted states of the VDUs.
	States map[string]vnfm.VDUState
	// Definitions are those of the CustomResourceDefinitions in the package.
	Definitions map[schema.GroupKind]*Definition
	// Release is set when the source is a Helm chart.
	Release *ChartRelease

	// namespace is that of objects which name none.
	namespace string
	// keeps is set when results of random functions are made and kept, namesLater when it
	// depends on some that are not made yet which objects there are.
	keeps, namesLater bool
	lookup            lookup
}

// Scaling says who decides on the replicas of a workload and how many it starts with.
type Scaling struct {
	// VDU is the id of the VDU; it is empty when only an autoscaler decides.
	VDU string
	// Path is where the object holds its replicas.
	Path []string
	// Count is the number of replicas that the VDU asks for, or that the manifest of an
	// autoscaled workload starts with; zero when that has none.
	Count      int64
	autoscaled bool
	// FromZero is set when the autoscaler scales to zero and back by itself.
	FromZero bool
	// Written is set when the manifest itself has replicas at path.
	Written bool
}

// Initial is the number of replicas that a new object gets; nil leaves it to the server.
func (s *Scaling) Initial() *int64 {
	if s.VDU == "" && !s.Written {
		return nil
	}
	return &s.Count
}

// DriverOwned reports whether the driver keeps the replicas at Count. An autoscaler owns
// those of its VDU unless the VDU is stopped.
func (s *Scaling) DriverOwned() bool { return !s.autoscaled || (s.VDU != "" && s.Count == 0) }

// NamespaceIn is the namespace of an object in an instance whose objects are in the given one when they name none.
func (o *Object) NamespaceIn(namespace string) string { return cmp.Or(o.namespace, namespace) }

// Conceal masks the data of the Secrets in everything that the operation reports: events
// and logs of others may quote it. Names of objects stay readable, so that errors still
// name their object.
func (r *Rendering) Conceal(ctx context.Context) {
	concealed := vnfm.ConcealedIn(ctx)
	if concealed == nil {
		return
	}
	named := map[string]bool{}
	for _, o := range r.Objects {
		named[o.Name], named[o.namespace] = true, true
	}
	for _, o := range r.Objects {
		if !o.isSecret() {
			continue
		}
		for _, field := range []string{"data", "stringData"} {
			data, _ := o.Content[field].(map[string]any)
			for _, value := range data {
				text, _ := value.(string)
				if raw, err := base64.StdEncoding.DecodeString(text); err == nil && field == "data" {
					text = string(raw)
				}
				if !named[text] {
					concealed.Add(text)
				}
			}
		}
	}
}
