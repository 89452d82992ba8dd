package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Observe compares what the API server holds with what was applied: one LIST of
// the metadata of each kind and namespace, and one GET for each object that lost
// a field. An object is drifted when a field that was applied has another value,
// was removed, or lost its place in a list; what others added is not looked at.
func (d *Driver) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	all, err := s.placeKnown(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.observeScopes(ctx, all); err != nil {
		return nil, err
	}
	found := make([]string, len(all))
	err = s.each(ctx, len(all), false, func(ctx context.Context, i int) error {
		text, err := s.compareObject(ctx, all[i])
		found[i] = text
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &vnfm.Observation{VDUs: map[string]vnfm.VDUState{}, Objects: make(map[string]string, len(all))}
	vdus := map[*Object]string{}
	for id, o := range s.rendering.VDUs {
		vdus[o] = id
	}
	if release := s.rendering.Release; release != nil {
		text, err := s.observeRelease(ctx)
		if err != nil {
			return nil, err
		}
		if text != "" {
			out.Objects[release.Key()] = text
		}
	}
	for i, p := range all {
		if found[i] != "" {
			out.Objects[p.object.Key] = found[i]
		}
		if id, ok := vdus[p.object]; ok && p.live != nil {
			out.VDUs[id] = s.observedVDU(id, p)
		}
	}
	return out, nil
}

// placeKnown finds the places of the target's objects. Those whose kind the
// server does not know cannot be there.
func (s *session) placeKnown(ctx context.Context) ([]*placement, error) {
	recorded := make(map[Identity]string, len(s.target.Instance.Inventory))
	for i := range s.target.Instance.Inventory {
		item := &s.target.Instance.Inventory[i]
		recorded[IdentityOf(item)] = item.UID
	}
	var out []*placement
	for _, o := range s.rendering.Objects {
		r, ok, err := s.resolveOld(ctx, o.GVK)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		p := s.placed(o, r)
		p.item.UID, p.recorded = recorded[IdentityOf(&p.item)], false
		_, p.recorded = recorded[IdentityOf(&p.item)]
		out = append(out, p)
	}
	return out, s.refinePaths(ctx, out)
}

// observeScopes surveys the objects that carry the instance's label. Where one is
// missing, a second look without the label tells a lost label from a lost object.
func (s *session) observeScopes(ctx context.Context, all []*placement) error {
	options := surveyOptions{selector: instanceSelector(s.target.Instance.ID), whole: isScaled, keep: true}
	if err := s.survey(ctx, all, options); err != nil {
		return err
	}
	var missing []*placement
	for _, p := range all {
		if p.live == nil && (p.recorded || p.object.Shared) {
			missing = append(missing, p)
		}
	}
	options.selector = ""
	if err := s.survey(ctx, missing, options); err != nil {
		return err
	}
	for _, p := range missing {
		switch {
		case p.live == nil || s.belongs(p):
		case p.object.Shared:
			p.foreign = true
		default:
			p.live = nil
		}
	}
	return nil
}

func isScaled(p *placement) bool { return p.object != nil && p.object.Scaling != nil }

// observedVDU is what the workload of a VDU is now.
func (s *session) observedVDU(id string, p *placement) vnfm.VDUState {
	state := s.rendering.States[id]
	if state.Replicas != nil && p.live.replicas != nil {
		n := int(*p.live.replicas)
		state.Replicas = &n
	}
	return state
}

// compareObject returns the digest of an object that is as it was applied, the
// digest of what was applied when that is something else, or what drifted; it is
// empty for an object that is not there.
func (s *session) compareObject(ctx context.Context, p *placement) (string, error) {
	if p.live == nil {
		if finishedByItself(p) {
			return p.object.Digest, nil
		}
		return "", nil
	}
	if p.foreign {
		return p.object.Digest, nil
	}
	applied := p.live.Annotations[annotationDigest]
	if applied != "" && applied != p.object.Digest {
		return applied, nil
	}
	candidates, err := s.lost(p)
	if err != nil {
		return "", err
	}
	different, err := s.confirmed(ctx, p, candidates)
	if err != nil {
		return "", err
	}
	if drifted, err := replicasDrifted(p); err != nil {
		return "", err
	} else if drifted {
		different = append(different, strings.Join(p.object.Scaling.Path, "."))
	}
	if len(different) > 0 {
		return Describe(different), nil
	}
	return p.object.Digest, nil
}

// confirmed compares the values of fields that the driver lost. Those of labels
// and annotations are known already to differ.
func (s *session) confirmed(ctx context.Context, p *placement, candidates []Unowned) ([]string, error) {
	var different []string
	rest := slices.DeleteFunc(candidates, func(u Unowned) bool {
		fields := u.Path.Fields()
		if len(fields) != 3 || fields[0] != "metadata" || (fields[1] != "labels" && fields[1] != "annotations") {
			return false
		}
		different = append(different, u.Path.String())
		return true
	})
	if len(rest) == 0 {
		return different, nil
	}
	content := p.live.content
	if content == nil {
		obj, err := s.client.Get(ctx, p.ref)
		if err != nil {
			return nil, fmt.Errorf("comparing %s: %w", p, err)
		}
		content = obj.Object
	}
	intruders, err := FindForeign(rest, p.live.ManagedFields, content)
	if err != nil {
		return nil, fmt.Errorf("comparing %s: %w", p, err)
	}
	for _, i := range intruders {
		for _, path := range i.ImplicitKeys {
			different = append(different, path.String())
		}
	}
	return append(different, Differences(rest, content)...), nil
}

// replicasDrifted reports whether somebody else has set the replicas that the
// driver is to hold.
func replicasDrifted(p *placement) (bool, error) {
	scaling := p.object.Scaling
	if scaling == nil || !scaling.DriverOwned() || p.live.replicas == nil || *p.live.replicas == scaling.Count {
		return false, nil
	}
	mine, err := OwnsPath(p.live.ManagedFields, scaling.Path, kube.FieldManager, kube.ScaleFieldManager)
	return !mine, err
}

// finishedByItself reports whether an absent object has done its work: a Job that
// was made and that removes itself some time after it has ended.
func finishedByItself(p *placement) bool {
	if p.object.GVK.Group != "batch" || p.object.GVK.Kind != "Job" || p.item.UID == "" {
		return false
	}
	_, removed := kube.Nested(p.object.Content, "spec", "ttlSecondsAfterFinished")
	return removed
}
