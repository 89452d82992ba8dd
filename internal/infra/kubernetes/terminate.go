package kubernetes

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Terminate removes all objects of the inventory, of the release of a chart and with the instance's label, in the reverse order of the
// waves, and waits until they are deleted. Without an inventory it searches the kinds of the package and all built-in kinds for the
// label. Missing objects are success. The error about objects that are not deleted names them and their finalizers. Foreign objects
// are never changed.
//
// Volume claims that stay, and the volumes that they are bound to, lose the instance's label and get its name in an annotation: the next
// instance of that name takes them over. The same holds for a namespace that the driver created and for definitions, if the
// specification keeps them or if they contain objects that stay or are foreign.
func (d *Driver) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	s, err := d.openToFind(ctx, t, r)
	if err != nil {
		return err
	}
	return s.locked(ctx, func(ctx context.Context) error { return s.terminate(ctx, spec) })
}

// openToFind prepares a call that finds the existing objects of an instance. Since the inventory contains all objects of manifests, the
// package is rendered only without an inventory, or for the release and the hooks of a chart. A package that is lost or cannot be
// rendered any more must not block the removal.
func (d *Driver) openToFind(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) (*session, error) {
	s, err := d.connect(t, r)
	if err != nil || t.Package == nil || t.Flavour == nil || !s.isNew && !render.HasChart(t) {
		return s, err
	}
	if rendering, problems := render.Render(budget.New(ctx, budget.Limits{}), t); !problems.HasErrors() {
		s.rendering = rendering
	}
	return s, nil
}

func (s *session) terminate(ctx context.Context, spec vnfm.TerminateSpec) error {
	all, err := s.findAll(ctx, spec.Volumes)
	if err != nil {
		return err
	}
	history, unrecorded, err := s.readRelease(ctx, all)
	if err != nil {
		return err
	}
	all = append(all, unrecorded...)
	s.saved = slices.Clone(s.target.Instance.Inventory)
	if slices.ContainsFunc(all, func(p *targetObject) bool { return !p.recorded }) {
		if err := s.save(ctx, all, true); err != nil {
			return err
		}
	}
	end, err := s.beginUninstall(ctx, spec, history, all)
	if err != nil {
		return err
	}
	r := removal{
		session: s, all: true, deleteVolumes: deletesVolumes(spec.Volumes), grace: graceOf(spec),
		keepNamespace: spec.Namespace == vnfm.SharedKeep, keepDefinitions: spec.Definitions == vnfm.SharedKeep,
		onKept: spec.LeftBehind,
	}
	if err := r.leaveMadeClaims(ctx, all); err != nil {
		return err
	}
	for wave := render.Waves - 1; wave >= 0; wave-- {
		// A hook of the termination may already have removed its object.
		batch := slices.DeleteFunc(ofWave(all, wave), func(p *targetObject) bool { return p.live == nil })
		if wave == render.WaveFoundation {
			if err := end(ctx); err != nil {
				return err
			}
			if err := s.deleteKept(ctx); err != nil {
				return err
			}
			if batch, err = r.removable(ctx, batch); err != nil {
				return err
			}
			if len(batch) > 0 {
				// The Lease is released before the namespace that it may be in is deleted.
				s.unlock(ctx)
			}
		}
		if len(batch) == 0 {
			continue
		}
		r.announce(ctx, batch)
		if err := r.removeWave(ctx, batch); err != nil {
			return err
		}
	}
	return s.save(ctx, nil, false)
}

// graceOf returns the grace period of pods in seconds, nil if each pod's own applies.
func graceOf(spec vnfm.TerminateSpec) *int64 {
	var seconds int64
	switch {
	case spec.Type == vnfm.Forceful:
		return &seconds
	case spec.GracePeriod > 0:
		seconds = max(1, int64(spec.GracePeriod.Seconds()))
		return &seconds
	default:
		return nil
	}
}

// findAll returns the existing objects of the instance. If volumes are to be deleted it includes the claims that the StatefulSets
// created.
func (s *session) findAll(ctx context.Context, volumes vnfm.VolumePolicy) ([]*targetObject, error) {
	expected, err := s.expectedObjects(ctx)
	if err != nil {
		return nil, err
	}
	scopes, err := s.collectionsToSearch(ctx, expected)
	if err != nil {
		return nil, err
	}
	all, err := s.findByLabel(ctx, expected, scopes)
	if err != nil {
		return nil, err
	}
	if deletesVolumes(volumes) {
		made, err := s.statefulSetClaims(ctx, all, volumes == vnfm.VolumesDeleteNew)
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	return all, nil
}

// expectedObjects returns the objects of the package and of the inventory.
func (s *session) expectedObjects(ctx context.Context) ([]*targetObject, error) {
	if s.rendering == nil {
		return s.addInventory(ctx, nil)
	}
	out, err := s.existingObjects(ctx, slices.Concat(s.rendering.Objects, s.rendering.HookObjects()))
	if err != nil {
		return nil, err
	}
	return s.addInventory(ctx, withoutDuplicates(out))
}

// collectionsToSearch returns one object without a name for each collection to search: the collections of the expected objects and,
// without an inventory, of all other built-in kinds.
func (s *session) collectionsToSearch(ctx context.Context, expected []*targetObject) ([]*targetObject, error) {
	var out []*targetObject
	seen := map[collection]bool{}
	add := func(r kube.Resource, namespace string) {
		k := collection{r.GVR, namespace}
		if !seen[k] {
			seen[k] = true
			out = append(out, &targetObject{ref: kube.Ref{Resource: r, Namespace: namespace}})
		}
	}
	for _, p := range expected {
		add(p.ref.Resource, p.ref.Namespace)
	}
	if len(s.target.Instance.Inventory) > 0 {
		return out, nil
	}
	for _, gk := range render.KnownKinds() {
		r, err := s.client.Kind(ctx, gk)
		var unknown *kube.UnknownKindError
		if errors.As(err, &unknown) || (err == nil && missingVerb(r) != "") {
			continue
		}
		if err != nil {
			return nil, err
		}
		namespace := ""
		if r.Namespaced {
			namespace = s.namespace
		}
		add(r, namespace)
	}
	return out, nil
}

// findByLabel lists the objects with the instance's label and joins them with the expected ones. It looks up expected objects without
// the label by name.
func (s *session) findByLabel(ctx context.Context, expected, scopes []*targetObject) ([]*targetObject, error) {
	byIdentity := make(map[render.Identity]*targetObject, len(expected))
	for _, p := range expected {
		byIdentity[render.IdentityOf(&p.item)] = p
	}
	found := make([][]*targetObject, len(scopes))
	err := s.each(ctx, len(scopes), false, func(ctx context.Context, i int) error {
		ref := scopes[i].ref
		list, err := s.listMetadata(ctx, ref.Resource, ref.Namespace, kube.ListOptions{LabelSelector: instanceSelector(s.target.Instance.ID)})
		if apierrors.IsForbidden(err) && len(s.target.Instance.Inventory) == 0 {
			// A search over all kinds must not need more rights than the instance.
			return nil
		}
		if err != nil {
			return err
		}
		for j := range list {
			p := s.objectNamed(ref, list[j].Name, byIdentity)
			if byIdentity[render.IdentityOf(&p.item)] == nil && s.isOfOtherPart(p) {
				continue
			}
			p.live = &live{ObjectMeta: list[j].ObjectMeta}
			p.item.UID = string(list[j].UID)
			found[i] = append(found[i], p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	return s.addWithoutLabel(ctx, expected, all)
}

// isOfOtherPart reports whether an unexpected object with the instance's label belongs to the part on another VIM. Two VIMs can be the
// same cluster. The inventory contains all objects of this part. Without an inventory, namespaces other than this part's are foreign.
func (s *session) isOfOtherPart(p *targetObject) bool {
	if s.target.Part == nil {
		return false
	}
	return len(s.target.Instance.Inventory) > 0 || isNamespace(&p.item, p.item.Name) && p.item.Name != s.namespace
}

// addWithoutLabel adds the existing objects of the inventory that have lost the label. It leaves out the instance's own Lease.
func (s *session) addWithoutLabel(ctx context.Context, expected, all []*targetObject) ([]*targetObject, error) {
	var missing []*targetObject
	for _, p := range expected {
		if p.live == nil && p.recorded {
			missing = append(missing, p)
		}
	}
	if err := s.readLive(ctx, missing, readOptions{}); err != nil {
		return nil, err
	}
	for _, p := range missing {
		if p.live != nil && s.belongs(p) {
			all = append(all, p)
		}
	}
	// The end of the operation releases the Lease.
	return slices.DeleteFunc(all, func(p *targetObject) bool {
		return p.item.Group == "coordination.k8s.io" && p.item.Kind == "Lease" && p.item.Name == "vnf-"+s.target.Instance.ID
	}), nil
}

// deletesVolumes reports whether volume claims are deleted with the instance.
func deletesVolumes(p vnfm.VolumePolicy) bool {
	return p == vnfm.VolumesDelete || p == vnfm.VolumesDeleteNew
}
