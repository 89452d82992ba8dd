package kubernetes

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// rendering is all that a target asks for, computed offline.
type rendering struct {
	objects []*object
	// vdus maps VDU ids to their workloads.
	vdus map[string]*object
	// states is what the VDUs will be.
	states map[string]vnfm.VDUState
	// definitions are the kinds that CustomResourceDefinitions of the package give.
	definitions map[schema.GroupKind]*definition
	// release is set when the source is a Helm chart.
	release *chartRelease
}

// render takes the objects of a target from their source, finds the workloads of
// its VDUs and computes the digests. It needs neither the VIM nor its credentials. What is
// read is taken from the budget.
func render(b *budget.Budget, t *vnfm.Target) (*rendering, vnfm.Problems) {
	var ps vnfm.Problems
	if t.Package.Content == nil {
		ps.Errorf("", 0, 0, "the content of package %q is not at hand", t.Package.ID)
		return nil, ps
	}
	p := readParams(t, &ps)
	r := &rendering{definitions: map[schema.GroupKind]*definition{}}
	if src := sourceOf(t, &p, &ps); src != nil {
		for _, m := range src.manifests(b, t, r, &ps) {
			if o := renderObject(&m, &ps); o != nil {
				r.objects = append(r.objects, o)
			}
		}
	}
	t.Blame(ps)
	r.checkDuplicates(t, &ps)
	for _, o := range r.objects {
		if d := definitionOf(o); d != nil {
			r.definitions[schema.GroupKind{Group: d.group, Kind: d.kind}] = d
		}
	}
	if ps.HasErrors() {
		// What follows would only repeat them: a VDU whose manifest cannot be read
		// has no workload either.
		return r, ps
	}
	r.bindVDUs(t, p.mapping, &ps)
	r.bindAutoscaled(t)
	r.markConfiguration(t, &ps)
	r.setRules(t, &ps)
	r.setDigests(t, &ps)
	r.keep(t, &ps)
	return r, ps
}

// Decode returns the objects of a text that a chart was rendered to. What cannot be read
// is left out.
func Decode(b *budget.Budget, file, text string) []*object {
	var out []*object
	var ps vnfm.Problems
	for _, m := range decodeManifests(b, file, []byte(text), true, &ps) {
		if o := renderObject(&m, &ps); o != nil {
			out = append(out, o)
		}
	}
	return out
}

// checkDuplicates refuses two manifests of one object: which of them would win
// is nobody's intention.
func (r *rendering) checkDuplicates(t *vnfm.Target, ps *vnfm.Problems) {
	home := namespaceOf(t)
	seen := make(map[identity]*object, len(r.objects))
	for _, o := range r.objects {
		id := identity{o.gvk.Group, o.gvk.Kind, o.namespace, o.name}
		if id.namespace == "" {
			id.namespace = home
		}
		first, twice := seen[id]
		if !twice {
			seen[id] = o
			continue
		}
		o.problem(ps, fmt.Sprintf("%s is written twice", o.key), "the first one is in "+first.place())
	}
}

// setDigests computes the digests of all objects.
func (r *rendering) setDigests(t *vnfm.Target, ps *vnfm.Problems) {
	for _, o := range slices.Concat(r.objects, r.hookObjects()) {
		// Nobody knows which objects a template makes of a secret.
		secret := len(t.SecretParams) > 0
		o.keyed = o.keyed || secret
		sum, err := digest(o, t.DigestKey)
		if err != nil {
			o.problem(ps, err.Error(), "")
			continue
		}
		if secret && sum != "" {
			sum = keyedDigest(t.DigestKey, sum)
		}
		o.digest = sum
	}
	if r.release == nil || len(t.DigestKey) == 0 {
		return
	}
	if err := r.release.sumUp(t.DigestKey); err != nil {
		ps.Errorf("", 0, 0, "%v", err)
	}
}

// usesKey reports whether a digest of the rendering depends on the key.
func (r *rendering) usesKey() bool {
	return r.release != nil || slices.ContainsFunc(r.objects, func(o *object) bool { return o.keyed })
}
