package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Terminate removes everything that the inventory, the package or the instance's
// label names, in the reverse order of the waves, and waits until it is gone. Of
// an instance whose inventory was lost all built-in kinds are searched for the
// label. What is gone already is success; what does not go is an error that
// names it and its finalizers. Only objects of the instance are touched.
//
// Volume claims that stay lose the instance's label and note its name: the next
// instance of that name takes them over. So do a namespace of the
// driver's own and the definition of a kind when the specification keeps them, and
// whatever it says as long as something that stays, or that is somebody else's, is
// in the one or of the other.
func (d *Driver) Terminate(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec, r vnfm.Recorder) error {
	s, err := d.connect(t, r)
	if err != nil {
		return err
	}
	if t.Package != nil && t.Flavour != nil {
		// A package that cannot be rendered any more must not block its removal.
		if rendering, problems := Render(budget.New(ctx, budget.Limits{}), t); !problems.HasErrors() {
			s.rendering = rendering
		}
	}
	return s.locked(ctx, func(ctx context.Context) error { return s.terminate(ctx, spec) })
}

func (s *session) terminate(ctx context.Context, spec vnfm.TerminateSpec) error {
	all, err := s.find(ctx, spec.Volumes)
	if err != nil {
		return err
	}
	history, strays, err := s.takeUp(ctx, all)
	if err != nil {
		return err
	}
	all = append(all, strays...)
	s.saved = slices.Clone(s.target.Instance.Inventory)
	if err := s.save(ctx, all, true); err != nil {
		return err
	}
	end, err := s.uninstalling(ctx, spec, history, all)
	if err != nil {
		return err
	}
	r := removal{
		session: s, all: true, deleteVolumes: deletes(spec.Volumes), grace: graceOf(spec),
		keepHome: spec.Namespace == vnfm.SharedKeep, keepDefinitions: spec.Definitions == vnfm.SharedKeep,
		leftBehind: spec.LeftBehind,
	}
	for wave := Waves - 1; wave >= 0; wave-- {
		// A hook of the termination may have removed its object already.
		batch := slices.DeleteFunc(ofWave(all, wave), func(p *placement) bool { return p.live == nil })
		if wave == WaveFoundation {
			if err := end(ctx); err != nil {
				return err
			}
			if err := s.forgetKey(ctx); err != nil {
				return err
			}
			if batch, err = r.release(ctx, batch); err != nil {
				return err
			}
			// The Lease goes before the namespace that it may be in.
			s.unlock(ctx)
		}
		if len(batch) == 0 {
			continue
		}
		s.progress(ctx, "removing %s", listed(batch))
		if err := r.wave(ctx, batch); err != nil {
			return err
		}
	}
	return s.save(ctx, nil, false)
}

// graceOf returns the grace period of pods in seconds, nil for each pod's own.
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

// find returns what is on the server of the instance, with the claims that its
// StatefulSets made when those are to be deleted.
func (s *session) find(ctx context.Context, volumes vnfm.VolumePolicy) ([]*placement, error) {
	known, err := s.knownPlaces(ctx)
	if err != nil {
		return nil, err
	}
	scopes, err := s.searchScopes(ctx, known)
	if err != nil {
		return nil, err
	}
	all, err := s.findLabelled(ctx, known, scopes)
	if err != nil {
		return nil, err
	}
	if deletes(volumes) {
		made, err := s.claimsOfSets(ctx, all, volumes == vnfm.VolumesDeleteNew)
		if err != nil {
			return nil, err
		}
		all = append(all, made...)
	}
	return all, nil
}

// knownPlaces returns the places of the inventory and of the package.
func (s *session) knownPlaces(ctx context.Context) ([]*placement, error) {
	var known []*placement
	taken := map[Identity]bool{}
	if s.rendering != nil {
		for _, o := range slices.Concat(s.rendering.Objects, s.rendering.HookObjects()) {
			r, ok, err := s.resolveOld(ctx, o.GVK)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			p := s.placed(o, r)
			if !taken[IdentityOf(&p.item)] {
				taken[IdentityOf(&p.item)] = true
				known = append(known, p)
			}
		}
	}
	return s.placeInventory(ctx, known)
}

// searchScopes returns one place without a name for each kind and namespace that
// is searched: those of the known places and, without an inventory, all others.
func (s *session) searchScopes(ctx context.Context, known []*placement) ([]*placement, error) {
	var out []*placement
	seen := map[scopeKey]bool{}
	add := func(r kube.Resource, namespace string) {
		k := scopeKey{r.GVR, namespace}
		if !seen[k] {
			seen[k] = true
			out = append(out, &placement{ref: kube.Ref{Resource: r, Namespace: namespace}})
		}
	}
	for _, p := range known {
		add(p.ref.Resource, p.ref.Namespace)
	}
	if len(s.target.Instance.Inventory) > 0 {
		return out, nil
	}
	for _, gk := range KnownKinds() {
		r, err := s.client.Kind(ctx, gk)
		var unknown *kube.UnknownKindError
		if errors.As(err, &unknown) || (err == nil && lackingVerbs(r) != "") {
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

// findLabelled lists the objects with the instance's label and joins them with
// the known places. A known object that has lost its label is looked for by its
// name.
func (s *session) findLabelled(ctx context.Context, known, scopes []*placement) ([]*placement, error) {
	byIdentity := make(map[Identity]*placement, len(known))
	for _, p := range known {
		byIdentity[IdentityOf(&p.item)] = p
	}
	found := make([][]*placement, len(scopes))
	err := s.each(ctx, len(scopes), false, func(ctx context.Context, i int) error {
		ref := scopes[i].ref
		list, err := s.listMetadata(ctx, ref.Resource, ref.Namespace, kube.ListOptions{LabelSelector: instanceSelector(s.target.Instance.ID)})
		if apierrors.IsForbidden(err) && len(s.target.Instance.Inventory) == 0 {
			// A search over kinds that the instance may have nothing of must not
			// ask for more rights than the instance itself needed.
			return nil
		}
		if err != nil {
			return err
		}
		for j := range list {
			p := s.foundPlace(ref, list[j].Name, byIdentity)
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
	return s.addUnlabelled(ctx, known, all)
}

// foundPlace returns the known place of a labelled object, or makes one. It only
// reads the map.
func (s *session) foundPlace(ref kube.Ref, name string, known map[Identity]*placement) *placement {
	gvk := ref.Resource.GVK
	id := Identity{gvk.Group, gvk.Kind, ref.Namespace, name}
	if p, ok := known[id]; ok {
		return p
	}
	return &placement{
		item: vnfm.InventoryItem{
			Key: ObjectKey(gvk, ref.Namespace, name), Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: ref.Namespace, Name: name,
		},
		ref:  kube.Ref{Resource: ref.Resource, Namespace: ref.Namespace, Name: name},
		wave: WaveOf(gvk.Group, gvk.Kind),
	}
}

// addUnlabelled looks for objects of the inventory that were not found by label:
// they are gone, or somebody took their label away. Leases never have an owner
// that would clean up after them.
func (s *session) addUnlabelled(ctx context.Context, known, all []*placement) ([]*placement, error) {
	var missing []*placement
	for _, p := range known {
		if p.live == nil && p.recorded {
			missing = append(missing, p)
		}
	}
	if err := s.survey(ctx, missing, surveyOptions{}); err != nil {
		return nil, err
	}
	for _, p := range missing {
		if p.live != nil && s.belongs(p) {
			all = append(all, p)
		}
	}
	// The instance's own Lease is given back, not removed.
	return slices.DeleteFunc(all, func(p *placement) bool {
		return p.item.Group == "coordination.k8s.io" && p.item.Kind == "Lease" && p.item.Name == "vnf-"+s.target.Instance.ID
	}), nil
}

var (
	claimKind = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	setKind   = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
)

// claimsOfSets returns the claims that the instance's StatefulSets made. They
// have no owner and no label of the instance: their names and labels are those
// that the controller gives. A claim that is older than its set was there before:
// an earlier instance left it.
func (s *session) claimsOfSets(ctx context.Context, all []*placement, onlyNew bool) ([]*placement, error) {
	namespaces := map[string]map[string]bool{}
	known := map[string]bool{}
	for _, p := range all {
		if p.item.Group == setKind.Group && p.item.Kind == setKind.Kind {
			if namespaces[p.ref.Namespace] == nil {
				namespaces[p.ref.Namespace] = map[string]bool{}
			}
			namespaces[p.ref.Namespace][p.ref.Name] = true
		}
		if isClaim(p) {
			known[p.ref.Namespace+"/"+p.ref.Name] = true
		}
	}
	var out []*placement
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		sets, err := s.client.Resource(ctx, setKind)
		if err != nil {
			return nil, err
		}
		claims, err := s.client.Resource(ctx, claimKind)
		if err != nil {
			return nil, err
		}
		list, err := s.client.List(ctx, sets, namespace, kube.ListOptions{})
		if err != nil {
			return nil, err
		}
		there, err := s.listMetadata(ctx, claims, namespace, kube.ListOptions{})
		if err != nil {
			return nil, err
		}
		for i := range there {
			made := slices.ContainsFunc(list, func(set unstructured.Unstructured) bool {
				since := set.GetCreationTimestamp()
				return namespaces[namespace][set.GetName()] && madeBy(set.Object, there[i].Name, there[i].Labels) &&
					(!onlyNew || !there[i].CreationTimestamp.Before(&since))
			})
			if !made || known[namespace+"/"+there[i].Name] {
				continue
			}
			p := s.foundPlace(kube.Ref{Resource: claims, Namespace: namespace}, there[i].Name, nil)
			p.live = &live{ObjectMeta: there[i].ObjectMeta}
			p.item.UID = string(there[i].UID)
			out = append(out, p)
		}
	}
	return out, nil
}

// madeBy reports whether a StatefulSet made a claim: "<template>-<set>-<ordinal>",
// with the labels of the template and of the set's selector.
func madeBy(set map[string]any, name string, labels map[string]string) bool {
	setName, _ := kube.Nested(set, "metadata", "name")
	templates, _ := kube.Nested(set, "spec", "volumeClaimTemplates")
	selector, _ := kube.Nested(set, "spec", "selector", "matchLabels")
	list, _ := templates.([]any)
	for _, item := range list {
		template, _ := item.(map[string]any)
		templateName, _ := kube.Nested(template, "metadata", "name")
		ordinal, ok := strings.CutPrefix(name, fmt.Sprintf("%v-%v-", templateName, setName))
		if !ok || ordinal == "" || strings.Trim(ordinal, "0123456789") != "" {
			continue
		}
		own, _ := kube.Nested(template, "metadata", "labels")
		if hasLabels(labels, own) && hasLabels(labels, selector) {
			return true
		}
	}
	return false
}

func hasLabels(labels map[string]string, want any) bool {
	fields, _ := want.(map[string]any)
	for name, value := range fields {
		if labels[name] != value {
			return false
		}
	}
	return true
}

// deletes reports whether volume claims go with the instance.
func deletes(p vnfm.VolumePolicy) bool {
	return p == vnfm.VolumesDelete || p == vnfm.VolumesDeleteNew
}
