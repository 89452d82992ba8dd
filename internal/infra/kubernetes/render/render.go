// Package render makes the objects of a VNF instance from what its package holds: Kubernetes
// manifests, a Helm chart, or a VNFD that describes containers. It checks the parameters of
// the instance, binds each VDU to its workload and computes digests. It works offline: the
// same target gives the same objects on every machine.
package render

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Render makes the objects of a target from their source, binds the VDUs to their workloads
// and computes the digests. It needs neither the VIM nor its credentials. Its reading is
// charged to the budget.
func Render(b *budget.Budget, t *vnfm.Target) (*Rendering, vnfm.Problems) {
	var ps vnfm.Problems
	if t.Package.Content == nil {
		ps.Errorf("", 0, 0, "the content of package %q is not available", t.Package.ID)
		return nil, ps
	}
	p := readParams(t, &ps)
	r := &Rendering{Definitions: map[schema.GroupKind]*Definition{}}
	if src := sourceOf(t, &p, &ps); src != nil {
		for _, m := range src.manifests(b, t, r, &ps) {
			if o := renderObject(&m, &ps); o != nil {
				r.Objects = append(r.Objects, o)
			}
		}
	}
	t.Blame(ps)
	r.checkDuplicates(t, &ps)
	for _, o := range r.Objects {
		if d := DefinitionOf(o); d != nil {
			r.Definitions[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = d
		}
	}
	if ps.HasErrors() {
		// Later checks would only repeat these problems: a VDU whose manifest cannot be read
		// has no workload either.
		return r, ps
	}
	r.bindVDUs(t, p.mapping, &ps)
	r.bindAutoscaled(t)
	r.markConfiguration(t, &ps)
	r.setRules(t, &ps)
	r.setDigests(t, &ps)
	r.selectPart(t, &ps)
	return r, ps
}

// Decode returns the objects of a text that a chart was rendered to. Unreadable documents
// are left out.
func Decode(b *budget.Budget, file, text string) []*Object {
	var out []*Object
	var ps vnfm.Problems
	for _, m := range decodeManifests(b, file, []byte(text), true, &ps) {
		if o := renderObject(&m, &ps); o != nil {
			out = append(out, o)
		}
	}
	return out
}

// checkDuplicates rejects two manifests of the same object.
func (r *Rendering) checkDuplicates(t *vnfm.Target, ps *vnfm.Problems) {
	namespace := InstanceNamespace(t)
	seen := make(map[Identity]*Object, len(r.Objects))
	for _, o := range r.Objects {
		id := Identity{o.GVK.Group, o.GVK.Kind, o.namespace, o.Name}
		if id.Namespace == "" {
			id.Namespace = namespace
		}
		first, twice := seen[id]
		if !twice {
			seen[id] = o
			continue
		}
		o.Problem(ps, fmt.Sprintf("%s is defined twice", o.Key), "the first one is in "+first.Place())
	}
}

// setDigests computes the digests of all objects.
func (r *Rendering) setDigests(t *vnfm.Target, ps *vnfm.Problems) {
	for _, o := range slices.Concat(r.Objects, r.HookObjects()) {
		// A template may put a secret into any object.
		secret := len(t.SecretParams) > 0
		o.keyed = o.keyed || secret
		sum, err := objectDigest(o, t.DigestKey)
		if err != nil {
			o.Problem(ps, err.Error(), "")
			continue
		}
		if secret && sum != "" {
			sum = digest.Short(t.DigestKey, []byte(sum))
		}
		o.Digest = sum
	}
	if r.Release == nil || len(t.DigestKey) == 0 {
		return
	}
	if err := r.Release.setDigest(t.DigestKey); err != nil {
		ps.Errorf("", 0, 0, "%v", err)
	}
}

// UsesDigestKey reports whether a digest of the rendering depends on the key.
func (r *Rendering) UsesDigestKey() bool {
	return r.Release != nil || slices.ContainsFunc(r.Objects, func(o *Object) bool { return o.keyed })
}
