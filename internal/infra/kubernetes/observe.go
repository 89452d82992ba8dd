package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Observe compares the live objects with the applied ones. It sends one LIST of the metadata per kind and namespace, and one GET for
// each object that lost a field. An object is drifted when an applied field has another value, was removed, or lost its place in a
// list. Fields that others added are not drift. The observation names the objects that the credentials may not list, and comes with
// a *vnfm.RightsError then.
func (d *Driver) Observe(ctx context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	all, err := s.resolveServed(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.readObserved(ctx, all); err != nil {
		return nil, err
	}
	all, unread, lacking := readable(all)
	out := &vnfm.Observation{VDUs: map[string]vnfm.VDUState{}, Objects: make(map[string]string, len(all)), Unread: unread}
	found := make([]string, len(all))
	err = s.each(ctx, len(all), false, func(ctx context.Context, i int) error {
		text, err := s.compareObject(ctx, all[i])
		found[i] = text
		return err
	})
	if err != nil {
		return nil, err
	}
	s.noteUnseen(out)
	vdus := map[*render.Object]string{}
	for id, o := range s.rendering.VDUs {
		vdus[o] = id
	}
	if release := s.rendering.Release; release != nil {
		text, err := s.observeRelease(ctx)
		switch {
		case apierrors.IsForbidden(err):
			if lacking == nil {
				lacking = err
			}
			out.Unread = append(out.Unread, release.Key())
		case err != nil:
			return nil, err
		case text != "":
			out.Objects[release.Key()] = text
		}
	}
	drifted := map[string]*live{}
	for i, p := range all {
		if found[i] != "" {
			out.Objects[p.object.Key] = found[i]
		}
		if p.live != nil && found[i] != p.object.Digest {
			drifted[p.object.Key] = p.live
		}
		if id, ok := vdus[p.object]; ok && p.live != nil {
			if out.VDUs[id], err = s.observedVDU(ctx, id, p); err != nil {
				return nil, err
			}
		}
	}
	out.Gone, out.Warnings = s.gone(out), s.autoscaledProblems()
	if vnfm.IsRefresh(ctx) {
		d.drifted.Store(t.Instance.ID, drifted)
	}
	if lacking != nil {
		return out, &vnfm.RightsError{Doing: fmt.Sprintf("reading objects on VIM %q", s.target.VIM.Name), Err: lacking}
	}
	return out, nil
}

// noteUnseen adds the VDUs without a workload and the posted objects to an observation. They cannot drift, since they have no object
// on the server.
func (s *session) noteUnseen(out *vnfm.Observation) {
	for id, state := range s.rendering.States {
		if s.rendering.VDUs[id] == nil {
			// The request selects no workload for this VDU.
			out.VDUs[id] = state
		}
	}
	for _, o := range s.rendering.Objects {
		if o.IsRequest() {
			// The server keeps nothing of a posted object.
			out.Objects[o.Key] = o.Digest
		}
	}
}

// gone returns the objects of the target that do not exist, according to an observation. Unreadable objects may exist.
func (s *session) gone(o *vnfm.Observation) []string {
	var out []string
	note := func(key string) {
		if o.Objects[key] == "" && !slices.Contains(o.Unread, key) {
			out = append(out, key)
		}
	}
	for _, object := range s.rendering.Objects {
		note(object.Key)
	}
	if s.rendering.Release != nil {
		note(s.rendering.Release.Key())
	}
	return out
}

// readable returns the objects that could be read, the keys of the others, and the error of the first of the others.
func readable(all []*targetObject) (read []*targetObject, unread []string, lacking error) {
	for _, p := range all {
		if p.unread == nil {
			read = append(read, p)
			continue
		}
		unread = append(unread, p.object.Key)
		if lacking == nil {
			lacking = p.unread
		}
	}
	return read, unread, lacking
}

// resolveServed resolves the target's objects. It leaves out objects of an unknown kind, which cannot exist.
func (s *session) resolveServed(ctx context.Context) ([]*targetObject, error) {
	recorded := make(map[render.Identity]string, len(s.target.Instance.Inventory))
	for i := range s.target.Instance.Inventory {
		item := &s.target.Instance.Inventory[i]
		recorded[render.IdentityOf(item)] = item.UID
	}
	out, err := s.existingObjects(ctx, s.rendering.Objects)
	if err != nil {
		return nil, err
	}
	for _, p := range out {
		p.item.UID, p.recorded = recorded[render.IdentityOf(&p.item)]
	}
	return out, s.resolveReplicasPaths(ctx, out)
}

// readObserved reads the objects that carry the instance's label. A second read without the label distinguishes a lost label from a
// missing object.
func (s *session) readObserved(ctx context.Context, all []*targetObject) error {
	options := readOptions{selector: instanceSelector(s.target.Instance.ID), content: isScaled, keepContent: true, partly: true}
	if err := s.readLive(ctx, all, options); err != nil {
		return err
	}
	var missing []*targetObject
	for _, p := range all {
		if p.live == nil && p.unread == nil && (p.recorded || p.object.Shared) {
			missing = append(missing, p)
		}
	}
	options.selector = ""
	if err := s.readLive(ctx, missing, options); err != nil {
		return err
	}
	for _, p := range missing {
		switch {
		case p.live == nil:
		case p.object.Shared:
			// The object has the label of another instance, or none if that instance was terminated and kept the object.
			p.shared = true
		case s.belongs(p):
		default:
			p.live = nil
		}
	}
	return nil
}

// observedVDU returns the present state of a VDU. If a foreign autoscaler sets the replicas, it returns the desired number.
func (s *session) observedVDU(ctx context.Context, id string, p *targetObject) (vnfm.VDUState, error) {
	state := s.rendering.States[id]
	if state.Replicas == nil || p.live.replicas == nil {
		return state, nil
	}
	n := int(*p.live.replicas)
	if n != *state.Replicas {
		if a, err := s.foreignAutoscalerOf(ctx, p); a != nil || err != nil {
			return state, err
		}
	}
	state.Replicas = &n
	return state, nil
}

// compareObject returns the digest that was applied last, or a description of the drift. The result is empty for an object that does
// not exist.
func (s *session) compareObject(ctx context.Context, p *targetObject) (string, error) {
	if p.live == nil {
		if finishedByItself(p) {
			return p.object.Digest, nil
		}
		return "", nil
	}
	if p.shared {
		return p.object.Digest, nil
	}
	applied := p.live.Annotations[annotationDigest]
	if applied != "" && applied != p.object.Digest {
		return applied, nil
	}
	candidates, err := s.lostFields(p)
	if err != nil {
		return "", err
	}
	different, err := s.confirmDrift(ctx, p, candidates)
	if err != nil {
		return "", err
	}
	if drifted, err := replicasDrifted(p); err != nil {
		return "", err
	} else if drifted {
		different = append(different, strings.Join(p.object.Scaling.Path, "."))
	}
	if different, err = s.withoutAutoscaled(ctx, p, different); err != nil {
		return "", err
	}
	if len(different) == 0 {
		return p.object.Digest, nil
	}
	by, err := drift.ChangedBy(p.live.ManagedFields, different)
	if err != nil {
		return "", fmt.Errorf("comparing %s: %w", p, err)
	}
	return drift.Describe(withReplicas(p, different), by...), nil
}

// withReplicas adds the present and the applied number to the path of the replicas.
func withReplicas(p *targetObject, different []string) []string {
	path, wanted := p.object.Replicas()
	i := slices.Index(different, strings.Join(path, "."))
	if i >= 0 && wanted != nil && p.live.replicas != nil {
		different[i] = fmt.Sprintf("%s is %d, not %d", different[i], *p.live.replicas, *wanted)
	}
	return different
}

// withoutAutoscaled leaves out replicas that a foreign autoscaler has set.
func (s *session) withoutAutoscaled(ctx context.Context, p *targetObject, different []string) ([]string, error) {
	path, _ := p.object.Replicas()
	i := slices.Index(different, strings.Join(path, "."))
	if i < 0 {
		return different, nil
	}
	a, err := s.foreignAutoscalerOf(ctx, p)
	if a == nil || err != nil {
		return different, err
	}
	return slices.Delete(different, i, i+1), nil
}

// confirmDrift compares the values of fields that the driver lost. Labels and annotations
// are already known to differ.
func (s *session) confirmDrift(ctx context.Context, p *targetObject, candidates []drift.Unowned) ([]string, error) {
	var different []string
	rest := slices.DeleteFunc(candidates, func(u drift.Unowned) bool {
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
		if vnfm.IsRefresh(ctx) {
			// The dry run of the repair needs the rights of the credentials, so the request for them starts here.
			s.client.AskRights(ctx, s.target.Instance.Namespace)
		}
		obj, err := s.client.Get(ctx, p.ref)
		if err != nil {
			return nil, fmt.Errorf("comparing %s: %w", p, err)
		}
		content = obj.Object
	}
	foreign, err := drift.FindForeign(rest, p.live.ManagedFields, content)
	if err != nil {
		return nil, fmt.Errorf("comparing %s: %w", p, err)
	}
	for _, i := range foreign {
		for _, path := range i.ImplicitKeys {
			different = append(different, path.String())
		}
	}
	return append(different, drift.Differences(rest, content)...), nil
}

// replicasDrifted reports whether another manager has set replicas that the driver should own.
func replicasDrifted(p *targetObject) (bool, error) {
	scaling := p.object.Scaling
	if scaling == nil || !scaling.DriverOwned() || p.live.replicas == nil || *p.live.replicas == scaling.Count {
		return false, nil
	}
	mine, err := drift.OwnsPath(p.live.ManagedFields, scaling.Path, kube.FieldManager, kube.ScaleFieldManager)
	return !mine, err
}

// finishedByItself reports whether a missing object is a Job that Kubernetes deletes some time after its end.
func finishedByItself(p *targetObject) bool {
	return p.object.GVK.Group == "batch" && p.object.GVK.Kind == "Job" && p.item.UID != "" && p.object.Field("spec", "ttlSecondsAfterFinished") != nil
}
