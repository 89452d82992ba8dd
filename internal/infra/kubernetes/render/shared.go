package render

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A plan needs the same rendering three times: for the planned objects, for the description of changes and for the dry run on the
// VIM. An apply needs it to plan again, to compare it with the live objects and to write it.

// Bounds of the cache.
const (
	// maxKept is in bytes, as sizeOf estimates them.
	maxKept = 8 << 20
	// maxKeptRenderings has room for the instances that Terraform works on concurrently, each in its current and its planned state.
	maxKeptRenderings = 32
	// keptFor is short because the calls for one instance follow each other.
	keptFor = time.Minute
)

// Renderings caches renderings: callers with equal inputs get the same rendering. It is shared and must not be changed, see
// Rendering.With. Renderings is safe for concurrent use, and its zero value is ready.
type Renderings struct {
	// Lookup answers the lookups of the target's chart from its VIM; a nil Lookup finds nothing.
	Lookup func(ctx context.Context, t *vnfm.Target, wanted []helm.Lookup) ([]helm.Found, error)

	mu sync.Mutex
	// kept is ordered by last use, the most recently used last.
	kept []*keptRendering
}

type keptRendering struct {
	inputs    inputs
	rendering *Rendering
	warnings  vnfm.Problems
	size      int
	made      time.Time
}

// inputs is a digest of all inputs of a rendering. It covers secrets, so it must not leave the process.
type inputs [sha256.Size]byte

// Render makes the objects of a target from their source, binds the VDUs to their workloads and computes the digests. Only lookups
// of a chart use the VIM and its credentials; without them the lookups have no answer.
func (k *Renderings) Render(ctx context.Context, t *vnfm.Target) (*Rendering, vnfm.Problems) {
	own := inputsOf(t)
	id, known := identify(own)
	if known {
		if r, warnings := k.find(id); r != nil {
			if r.Release != nil {
				vnfm.Conceal(ctx, r.Release.ForeignSecrets...)
			}
			return r, append(warnings, r.planResults(t)...)
		}
	}
	r, ps := render(budget.New(ctx, budget.Limits{}), own, false, k.lookup(t))
	if known && !ps.HasErrors() && (r.Release == nil || !r.Release.Unanswered) {
		k.keep(&keptRendering{inputs: id, rendering: r, warnings: slices.Clone(ps), size: r.size(), made: time.Now()})
	}
	return r, append(ps, r.planResults(t)...)
}

// Make is Render for an apply. The rendering of a chart is not shared: it makes missing results of random functions and saves them
// in the target's Results, and its hooks record how they run.
func (k *Renderings) Make(ctx context.Context, t *vnfm.Target) (*Rendering, vnfm.Problems) {
	own := inputsOf(t)
	if id, known := identify(own); known {
		if r, warnings := k.find(id); r != nil && r.Release == nil {
			return r, warnings
		}
	}
	return render(budget.New(ctx, budget.Limits{}), own, true, k.lookup(t))
}

// lookup binds Lookup to a target.
func (k *Renderings) lookup(t *vnfm.Target) lookup {
	if k.Lookup == nil {
		return nil
	}
	return func(ctx context.Context, wanted []helm.Lookup) ([]helm.Found, error) { return k.Lookup(ctx, t, wanted) }
}

// inputsOf copies the fields of a target that a rendering depends on. The rendering gets only the copy, so it cannot depend on
// others.
func inputsOf(t *vnfm.Target) *vnfm.Target {
	i := t.Instance
	return &vnfm.Target{
		VIM: t.VIM, Package: t.Package, Flavour: t.Flavour, Part: t.Part, Counts: t.Counts, SecretParams: t.SecretParams,
		AvailabilityZones: t.AvailabilityZones, DigestKey: t.DigestKey, Results: t.Results, Regenerate: t.Regenerate, Recorded: t.Recorded, Restores: t.Restores,
		Instance: &vnfm.Instance{
			Name: i.Name, Namespace: i.Namespace, VIMID: i.VIMID, Generation: i.Generation, AdditionalParams: i.AdditionalParams, OperationalState: i.OperationalState,
			ScaleLevels: i.ScaleLevels, Readiness: i.Readiness, Links: i.Links,
		},
	}
}

// identify returns the digest of inputs; ok is false if the content of the package has no digest. Of the VIM only the namespace
// counts.
func identify(t *vnfm.Target) (id inputs, ok bool) {
	p := t.Package
	if p.Content == nil || p.Digest == "" {
		return id, false
	}
	sum, i := sha256.New(), t.Instance
	texts := []string{p.ID, p.Digest, InstanceNamespace(t), string(t.DigestKey), string(t.Results.Data()), string(t.Results.Before()), t.Recorded, i.VIMID}
	for _, f := range p.Files {
		// The digest of the package does not cover external artifacts, which are listed here.
		texts = append(texts, f.Path, f.Digest)
	}
	for _, text := range texts {
		writeText(sum, text)
	}
	err := json.NewEncoder(sum).Encode([]any{
		t.Flavour, p.KubernetesFiles, p.Later, p.NamesLater, t.Part, t.Counts, t.AvailabilityZones, t.Results != nil, t.Regenerate, t.Restores,
		// Without results a chart is rendered as its first revision, whatever the generation.
		len(t.Results.Data()) > 0 && i.Generation == 0,
		i.Name, i.Namespace, i.OperationalState, i.ScaleLevels, i.Readiness, i.Links,
	})
	writeValue(sum, i.AdditionalParams)
	writeValue(sum, t.SecretParams)
	return inputs(sum.Sum(nil)), err == nil
}

// writeText writes a string after its length, so that different sequences of strings never give the same bytes.
func writeText(sum hash.Hash, text string) {
	_, _ = fmt.Fprintf(sum, "%d ", len(text))
	_, _ = io.WriteString(sum, text)
}

// writeValue writes a parameter with its types, because a chart can distinguish 1 from 1.0.
func writeValue(sum hash.Hash, value any) {
	switch value := value.(type) {
	case map[string]any:
		_, _ = fmt.Fprintf(sum, "map %d ", len(value))
		for _, name := range slices.Sorted(maps.Keys(value)) {
			writeText(sum, name)
			writeValue(sum, value[name])
		}
	case []any:
		_, _ = fmt.Fprintf(sum, "list %d ", len(value))
		for _, item := range value {
			writeValue(sum, item)
		}
	default:
		writeText(sum, fmt.Sprintf("%T %#v", value, value))
	}
}

// find returns a cached rendering with its warnings, or nil.
func (k *Renderings) find(id inputs) (*Rendering, vnfm.Problems) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = slices.DeleteFunc(k.kept, func(o *keptRendering) bool { return time.Since(o.made) > keptFor })
	at := slices.IndexFunc(k.kept, func(o *keptRendering) bool { return o.inputs == id })
	if at < 0 {
		return nil, nil
	}
	found := k.kept[at]
	k.kept = append(slices.Delete(k.kept, at, at+1), found)
	return found.rendering, slices.Clone(found.warnings)
}

// keep caches a rendering and evicts the least recently used ones if there is no room.
func (k *Renderings) keep(made *keptRendering) {
	if made.size > maxKept {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	total := made.size
	for _, o := range k.kept {
		total += o.size
	}
	for len(k.kept) > 0 && (total > maxKept || len(k.kept) >= maxKeptRenderings) {
		total -= k.kept[0].size
		k.kept = slices.Delete(k.kept, 0, 1)
	}
	k.kept = append(k.kept, made)
}

// size estimates the size of a rendering in bytes.
func (r *Rendering) size() int {
	n := 0
	for _, o := range slices.Concat(r.Objects, r.HookObjects()) {
		n += sizeOf(o.Content)
	}
	if r.Release != nil {
		// The release also holds the texts of the objects.
		n *= 2
	}
	return n
}

// sizeOf estimates the size of a JSON value in bytes.
func sizeOf(value any) int {
	const word = 16
	n := word
	switch value := value.(type) {
	case string:
		n += len(value)
	case map[string]any:
		for name, item := range value {
			n += word + len(name) + sizeOf(item)
		}
	case []any:
		for _, item := range value {
			n += sizeOf(item)
		}
	}
	return n
}

// With returns a copy of the rendering in which some objects are replaced. The rendering itself may be shared and stays unchanged.
func (r *Rendering) With(others map[*Object]*Object) *Rendering {
	other := func(o *Object) *Object { return cmp.Or(others[o], o) }
	out := *r
	out.Objects, out.VDUs = make([]*Object, 0, len(r.Objects)), make(map[string]*Object, len(r.VDUs))
	for _, o := range r.Objects {
		out.Objects = append(out.Objects, other(o))
	}
	for id, o := range r.VDUs {
		out.VDUs[id] = other(o)
	}
	return &out
}
