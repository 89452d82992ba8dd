package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/drift"
	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// dryRunLimit bounds a dry run: a plan must not hang on a VIM that answers slowly.
const dryRunLimit = 10 * time.Second

// DryRun applies the objects with these keys without storing them. It leaves out objects that the API server cannot validate yet,
// because the same apply creates or changes the definition of their kind. Existing objects of other owners are reported as one
// problem and not tried. Of many new objects it tries a sample.
func (d *Driver) DryRun(ctx context.Context, t *vnfm.Target, keys []string) (vnfm.Problems, error) {
	s, err := d.open(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dryRunLimit)
	defer cancel()
	ctx, warnings := kube.WithWarnings(ctx)
	s.drifted = d.takeDrifted(t.Instance.ID)
	wanted := make(map[string]bool, len(keys))
	for _, key := range keys {
		wanted[key] = true
	}
	taken, half, conflicts := s.takenObjects(ctx, wanted, s.asPlanned())
	rights := s.rights(ctx, wanted)
	objects := slices.DeleteFunc(s.dryRunnable(wanted), func(o *render.Object) bool { return slices.Contains(taken, o.Key) })
	recorded := s.inventoryIdentities(func(i *vnfm.InventoryItem) bool { return i.UID != "" })
	objects = sample(objects, func(o *render.Object) bool {
		if s.target.AdoptExisting {
			// The object may exist and run, so it counts as changed.
			return false
		}
		r, _, err := s.resolveKind(ctx, o.GVK)
		return err == nil && !recorded[render.IdentityOf(&s.newTargetObject(o, r).item)]
	})
	if rights.ReadOnly {
		// Each try would be refused.
		objects = nil
	}
	run := &dryRun{session: s, recorded: recorded, stop: cancel, findings: make([]finding, len(objects)), unknown: rights.Unknown, half: half, namespaces: missingNamespaces{}}
	// Reaching the time limit is a finding, not an error.
	_ = s.each(ctx, len(objects), true, func(ctx context.Context, i int) error {
		run.tryObject(ctx, i, objects[i])
		return nil
	})
	if ctx.Err() != nil && run.incomplete == "" && run.lacking == nil {
		run.incomplete = fmt.Sprintf("the time limit of %s was reached", dryRunLimit)
	}
	problems := slices.Concat(conflicts, run.problems(objects), run.namespaces.problems(s), s.droppedProblems(), serverWarnings(warnings),
		s.replacedPods(ctx, objects), s.keepsShared(ctx), s.notRecorded(ctx), s.checkKept(ctx))
	lacking := run.lacking
	switch {
	case rights.ReadOnly:
		lacking = errors.New("the credentials may not " + rights.Missing.String())
	case len(rights.Missing) > 0:
		problems = append(problems, s.missingRights(rights.Missing))
	}
	if release := s.rendering.Release; release != nil && wanted[release.Key()] {
		// A server that does not answer is reported above.
		if p, err := s.checkKubeVersion(ctx); err == nil && p != nil {
			problems = append(problems, *p)
		}
	}
	if lacking != nil {
		return problems, &vnfm.RightsError{Doing: fmt.Sprintf("trying objects on VIM %q", t.VIM.Name), Err: lacking}
	}
	return problems, nil
}

// rights returns the rights of the credentials to the kinds of the objects with these keys, in the namespace of the instance. A VIM
// that does not answer is not a finding, because the objects that it rejects are reported.
func (s *session) rights(ctx context.Context, wanted map[string]bool) kube.Rights {
	namespace := s.target.Instance.Namespace
	var resources []kube.Resource
	for _, o := range s.rendering.Objects {
		// Rights on a namespace are often for a single name.
		if !wanted[o.Key] || o.IsRequest() || o.GVK.Group == "" && o.GVK.Kind == "Namespace" {
			continue
		}
		if r, _, err := s.resolveKind(ctx, o.GVK); err == nil && (!r.Namespaced || o.NamespaceIn(s.namespace) == namespace) {
			resources = append(resources, r)
		}
	}
	if len(resources) == 0 {
		return kube.Rights{}
	}
	rights, err := s.client.Rights(ctx, namespace, resources)
	if err != nil {
		return kube.Rights{}
	}
	return rights
}

// withMissingRights adds all missing rights to an error about one missing right, so that the next apply does not fail on another one.
func (s *session) withMissingRights(ctx context.Context, err error) error {
	lacksRight := func(err error) bool { refusal, _ := kube.RefusalOf(err); return refusal == kube.NotAllowed }
	if err == nil || !lacksRight(err) {
		return err
	}
	wanted := map[string]bool{}
	for _, o := range s.rendering.Objects {
		wanted[o.Key] = true
	}
	missing := s.rights(ctx, wanted).Missing
	if len(missing) == 0 {
		return err
	}
	if all, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok && !slices.ContainsFunc(all.Unwrap(), func(err error) bool { return !lacksRight(err) }) {
		err = all.Unwrap()[0]
	}
	return fmt.Errorf("the credentials of VIM %q may not %s in the namespace %s; have them be given these rights, as examples/rights/kubernetes.yaml does: %w",
		s.target.VIM.Name, missing, s.target.Instance.Namespace, err)
}

// missingRights returns a warning that lists the missing rights.
func (s *session) missingRights(missing kube.MissingRights) vnfm.Problem {
	return vnfm.Problem{
		Severity: vnfm.SeverityWarning,
		Summary:  fmt.Sprintf("the credentials of VIM %q lack rights in the namespace %s for kinds of the instance", s.target.VIM.Name, s.target.Instance.Namespace),
		Detail: "They may not " + missing.String() + ". Apply the Role of `examples/rights/kubernetes.yaml` in this namespace with a line for each kind of the " +
			"package, or a ClusterRole where a kind has no namespace: without these rights the apply, or a later change, fails.",
	}
}

// dryRunnable returns the objects with these keys, without posted objects and without objects whose definition is among the keys.
func (s *session) dryRunnable(wanted map[string]bool) []*render.Object {
	changing := map[schema.GroupKind]bool{}
	for _, o := range s.rendering.Objects {
		if d := render.DefinitionOf(o); d != nil && wanted[o.Key] {
			changing[schema.GroupKind{Group: d.Group, Kind: d.Kind}] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(s.rendering.Objects), func(o *render.Object) bool {
		return !wanted[o.Key] || o.IsRequest() || changing[o.GVK.GroupKind()]
	})
}

// finding is the answer of the API server about one object; text is empty for no finding.
type finding struct {
	refusal kube.Refusal
	text    string
}

// dryRun collects the answers of the API server.
type dryRun struct {
	session *session
	// recorded are the objects that the instance has made.
	recorded map[render.Identity]bool
	// stop ends the dry run early: a missing right or an unreachable server prevents the check of all objects.
	stop     context.CancelFunc
	mu       sync.Mutex
	findings []finding
	// incomplete is the reason why some objects were not checked.
	incomplete string
	// unknown is set when the API server cannot list the rights of the credentials. lacking is then the refusal of one request.
	unknown bool
	lacking error
	// half is set when the instance is new and has objects.
	half       bool
	namespaces missingNamespaces
}

func (t *dryRun) tryObject(ctx context.Context, i int, o *render.Object) {
	err := t.session.dryRunObject(ctx, o, t.recorded)
	if err == nil {
		return
	}
	if ctx.Err() != nil {
		return
	}
	if kube.IsNamespaceMissing(err) {
		t.missing(o)
		return
	}
	refusal, text := kube.RefusalOf(err)
	var unknown *kube.UnknownKindError
	if errors.As(err, &unknown) {
		refusal = kube.RefusedForNow
	}
	if advice, ok := errors.AsType[*changeError](err); ok {
		text += "; " + advice.advice()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if refusal == kube.Unanswered || refusal == kube.NotAllowed {
		switch {
		case refusal == kube.NotAllowed && t.unknown:
			t.lacking = err
			t.stop()
		case t.incomplete == "":
			t.incomplete = text
			t.stop()
		}
		return
	}
	t.findings[i] = finding{refusal, text}
}

// problems returns an error for each object that is rejected as written. It is a warning while the plan may precede the destroy of
// a half-made instance. All objects that are rejected only for now share one warning. An incomplete dry run is another warning.
func (t *dryRun) problems(objects []*render.Object) vnfm.Problems {
	var ps vnfm.Problems
	var forNow []string
	for i, f := range t.findings {
		o := objects[i]
		switch {
		case f.text == "":
		case f.refusal == kube.RefusedAsWritten:
			o.Problem(&ps, o.Key+" would be rejected by the API server", f.text)
			if t.half {
				p := &ps[len(ps)-1]
				p.Severity, p.Detail = vnfm.SeverityWarning, p.Detail+"; objects of an instance of this name exist, so that a destroy goes on: an apply is rejected"
			}
		default:
			forNow = append(forNow, fmt.Sprintf("%s (%s): %s", o.Key, o.Place(), f.text))
		}
	}
	if len(forNow) > 0 {
		ps = append(ps, vnfm.Problem{
			Severity: vnfm.SeverityWarning,
			Summary:  "the API server would currently reject objects",
			Detail:   joined(forNow) + "\nThe apply tries them again, after what it changes before them.",
		})
	}
	if t.incomplete != "" {
		ps = append(ps, vnfm.Problem{
			Severity: vnfm.SeverityWarning,
			Summary:  "the dry run on the VIM is incomplete",
			Detail:   t.incomplete + "\nThe apply reports what the API server rejects. To plan without a dry run, set server_dry_run = false.",
		})
	}
	return ps
}

// inventoryIdentities returns the objects of the inventory for which include is true.
func (s *session) inventoryIdentities(include func(*vnfm.InventoryItem) bool) map[render.Identity]bool {
	out := make(map[render.Identity]bool, len(s.target.Instance.Inventory))
	for i := range s.target.Instance.Inventory {
		if item := &s.target.Instance.Inventory[i]; include(item) {
			out[render.IdentityOf(item)] = true
		}
	}
	return out
}

// dryRunObject applies an object like writeObject, without storing it. An object that the apply would replace is not a finding.
func (s *session) dryRunObject(ctx context.Context, o *render.Object, recordedIdentities map[render.Identity]bool) error {
	r, served, err := s.resolveKind(ctx, o.GVK)
	if err != nil || !served {
		return err
	}
	p := s.newTargetObject(o, r)
	recorded := recordedIdentities[render.IdentityOf(&p.item)]
	var replicas *int64
	if o.Scaling != nil && !recorded {
		replicas = o.Scaling.Initial()
	}
	body := applyBody(o, s.target, p.ref.Namespace, replicas)
	options := kube.ApplyOptions{FieldManager: kube.FieldManager, Force: s.target.ForceConflicts, DryRun: true}
	if p.live = s.drifted[o.Key]; p.live != nil {
		options.Force = options.Force || s.isRepair(p)
	}
	obj, err := s.client.Apply(ctx, p.ref, body, options)
	var conflict *kube.ConflictError
	if errors.As(err, &conflict) {
		if left, lookErr := s.conflictsWithAutoscaler(ctx, p, conflict); lookErr == nil && left {
			return s.dryRunObject(ctx, o.LeftToAutoscaler(false), recordedIdentities)
		}
		if ours, lookErr := s.wouldRepair(ctx, p, conflict); lookErr != nil || !ours {
			return errors.Join(err, lookErr)
		}
		options.Force = true
		obj, err = s.client.Apply(ctx, p.ref, body, options)
	}
	if err == nil {
		s.noteDropped(o, body, obj)
	}
	if !apierrors.IsInvalid(err) {
		return err
	}
	if err = s.changeRefused(ctx, p, body, err); errors.As(err, new(*changeError)) && (s.replaceable(p) || s.hasFormerDefaults(ctx, p, body)) {
		return nil
	}
	if recorded {
		err = s.foreignElementConflict(ctx, p, err)
		if errors.As(err, &conflict) && (s.target.ForceConflicts || s.isRepair(p)) {
			// The apply takes over the element first, which cannot be tried.
			return nil
		}
	}
	return err
}

// hasFormerDefaults reports whether an apply would take over defaults, which cannot be tried, see takeOverDefaults.
func (s *session) hasFormerDefaults(ctx context.Context, p *targetObject, body map[string]any) bool {
	obj, err := s.client.Get(ctx, p.ref)
	if err != nil {
		return false
	}
	paths, err := drift.FormerDefaults(body, obj.Object, obj.GetManagedFields())
	return err == nil && len(paths) > 0
}

// wouldRepair reports whether a conflict is with a manager of the driver, or about a
// drifted object that is repaired by force.
func (s *session) wouldRepair(ctx context.Context, p *targetObject, conflict *kube.ConflictError) (bool, error) {
	if s.onlyOwnManagers(conflict) {
		return true, nil
	}
	obj, err := s.client.Get(ctx, p.ref)
	if err != nil {
		return false, err
	}
	p.live = liveOf(p, obj, false)
	return s.isRepair(p), nil
}

// isRepair reports whether a write of a live object restores the content that was applied last.
func (s *session) isRepair(p *targetObject) bool {
	return s.belongs(p) && p.live.Annotations[annotationDigest] == p.object.Digest
}
