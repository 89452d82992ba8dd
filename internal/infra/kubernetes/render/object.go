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

// Object is a rendered object of the package. Its content has no fields that the server writes, no labels of the driver, and no
// replicas if a VDU or an autoscaler decides on them.
type Object struct {
	GVK schema.GroupVersionKind
	// namespace is the namespace in the manifest; it may be empty.
	namespace, Name string
	Key             string
	// Digest is empty if it needs a key and the target has none.
	Digest  string
	Content map[string]any
	// keyed is set when the digest depends on the key: the object, or a Secret of the package that its pods read, holds secrets.
	keyed bool
	// later is set when the object depends on results of random functions that do not exist yet; the object then has no digest.
	later bool
	// reads are the result of Reads.
	reads []Identity
	Wave  int
	// Scaling is set when a VDU or an autoscaler decides on the replicas.
	Scaling *Scaling
	// Shared is set for an object that several instances use.
	Shared bool
	// Rule is the readiness rule of the object; nil for the rule of its kind.
	Rule *readiness.Rule

	// warnings are about unknown fields and missing required ones.
	warnings vnfm.Problems
	// written is the object as in its file; nil if the file's content is not kept.
	written      *manifests.Written
	file         string
	line, column int
}

// Field returns a nested field of the content without copying it; nil if it is missing.
func (o *Object) Field(path ...string) any { return fieldOf(o.Content, path...) }

func fieldOf(content map[string]any, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(content, path...)
	return value
}

func (o *Object) isSecret() bool { return o.GVK.Group == "" && o.GVK.Kind == "Secret" }

// Place is the file and, if known, the line of the object.
func (o *Object) Place() string { return vnfm.Problem{File: o.file, Line: o.line}.Location() }

// Problem appends an error at the place of the object.
func (o *Object) Problem(ps *vnfm.Problems, summary, detail string) {
	*ps = append(*ps, vnfm.Problem{File: o.file, Line: o.line, Column: o.column, Summary: summary, Detail: detail})
}

// ObjectKey is the identity of an object as written in its manifest: "group/version/Kind namespace/name", without group for the core
// group and without namespace if the manifest names none.
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

// Identity identifies an object on the server, independent of the API version in its manifest.
type Identity struct {
	Group, Kind, Namespace, Name string
}

// IdentityOf returns the identity of an inventory item.
func IdentityOf(i *vnfm.InventoryItem) Identity {
	return Identity{i.Group, i.Kind, i.Namespace, i.Name}
}

// Rendering is the desired state of a target: its objects, and a release if it has a chart.
type Rendering struct {
	Objects []*Object
	// VDUs maps VDU ids to their workloads.
	VDUs map[string]*Object
	// States are the desired states of the VDUs.
	States map[string]vnfm.VDUState
	// Definitions are the CustomResourceDefinitions in the package, by the kinds that they define.
	Definitions map[schema.GroupKind]*Definition
	// Release is set when the source is a Helm chart.
	Release *ChartRelease

	// namespace is the namespace of objects that name none.
	namespace string
	// keeps is set when results of random functions are made and saved. namesLater is set when the list of objects depends on
	// results that do not exist yet.
	keeps, namesLater bool
	lookup            lookup
}

// Scaling is the owner of the replicas of a workload, a VDU or an autoscaler, and their initial number.
type Scaling struct {
	// VDU is the id of the VDU; empty if the workload only has an autoscaler.
	VDU string
	// Path is the path of the replicas in the object.
	Path []string
	// Count is the number of replicas of the VDU, else the number in the manifest of an autoscaled workload; zero if the manifest
	// has none.
	Count      int64
	autoscaled bool
	// FromZero is set when the autoscaler can scale to zero and from zero.
	FromZero bool
	// Written is set when the manifest has replicas at Path.
	Written bool
}

// Initial is the number of replicas of a new object; nil for the server's default.
func (s *Scaling) Initial() *int64 {
	if s.VDU == "" && !s.Written {
		return nil
	}
	return &s.Count
}

// DriverOwned reports whether the driver keeps the replicas at Count. The replicas of an autoscaled VDU belong to its autoscaler,
// unless the VDU is stopped.
func (s *Scaling) DriverOwned() bool { return !s.autoscaled || (s.VDU != "" && s.Count == 0) }

// NamespaceIn is the namespace of the object, or the given one if the object names none.
func (o *Object) NamespaceIn(namespace string) string { return cmp.Or(o.namespace, namespace) }

// Conceal masks the data of Secrets in all reports of the operation, because events and logs of other programs may quote it.
// Names of objects stay readable, so that errors can name their object.
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
