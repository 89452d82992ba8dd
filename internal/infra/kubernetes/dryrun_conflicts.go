package kubernetes

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// plannedID is the temporary id of an instance that does not exist yet. No object has it.
const plannedID = "planned"

// adoptExisting is the argument that lets an instance take over existing objects.
const adoptExisting = "adopt_existing"

// asPlanned gives a new instance a temporary id, so that objects without an id do not count as its own. It reports whether the
// instance is new.
func (s *session) asPlanned() (creation bool) {
	if s.target.Instance.ID != "" {
		return false
	}
	target, instance := *s.target, *s.target.Instance
	instance.ID = plannedID
	target.Instance, s.target = &instance, &target
	return true
}

// takenObjects finds existing objects of other owners, which the apply would refuse, among the objects with these keys. For a new
// instance it also checks the release and the hooks. It sends one LIST per kind and namespace, and returns the keys of the found
// objects and a common problem. It leaves out unreadable objects, which the apply reports. half is set when a new instance has
// objects already: its creation did not complete, and its record was lost.
//
// The problem is an error for a new instance, else a warning, because a destroy is planned as an update first.
func (s *session) takenObjects(ctx context.Context, wanted map[string]bool, creation bool) (taken []string, half bool, problems vnfm.Problems) {
	var conflicts []*vnfm.ConflictError
	adoptable := false
	asked := map[string]bool{}
	yields := func(id string) bool {
		if _, known := asked[id]; !known {
			asked[id] = s.target.Yields != nil && s.target.Yields(ctx, id)
		}
		return asked[id]
	}
	note := func(c *vnfm.ConflictError) {
		if c.OwnerID != "" && yields(c.OwnerID) {
			return
		}
		adoptable = adoptable || c.OwnerID == ""
		conflicts = append(conflicts, c)
	}
	if creation {
		var conflict *vnfm.ConflictError
		if history, err := s.history(ctx); err == nil && errors.As(history.CheckOwner(s.target.AdoptExisting), &conflict) {
			note(conflict)
		}
	}
	all := s.unrecordedTargets(ctx, wanted, creation)
	// The collections that could be read are checked although another one failed.
	_ = s.readLive(ctx, all, readOptions{partly: true})
	for _, p := range all {
		// The object may belong to a terminated instance of the same name.
		if p.live == nil || p.live.DeletionTimestamp != nil {
			continue
		}
		if p.live.Annotations[annotationInstance] == s.target.Instance.Name {
			// An instance of this name that has a record yields.
			half = half || creation && !yields(p.live.Labels[labelInstance])
			continue
		}
		if conflict := s.ownerConflict(p); conflict != nil {
			taken = append(taken, p.item.Key)
			note(conflict)
		}
	}
	if len(conflicts) == 0 {
		return taken, half, nil
	}
	var lines []string
	for _, c := range perOwner(conflicts) {
		lines = append(lines, c.Error())
	}
	problem := vnfm.Problem{
		Summary: fmt.Sprintf("objects of the planned instance exist already on VIM %q", s.target.VIM.Name),
		Detail:  joined(lines) + "\nNothing of another owner is changed. If this is removed before the apply, set server_dry_run = false.",
	}
	if adoptable {
		problem.Attribute = adoptExisting
	}
	if !creation {
		problem.Severity = vnfm.SeverityWarning
	}
	return taken, half, vnfm.Problems{problem}
}

// unrecordedTargets returns the objects with these keys that the inventory does not contain, and the objects of a new instance's
// hooks. It leaves out objects of unknown kinds.
func (s *session) unrecordedTargets(ctx context.Context, wanted map[string]bool, creation bool) []*targetObject {
	var out []*targetObject
	recorded := s.inventoryIdentities(func(*vnfm.InventoryItem) bool { return true })
	for _, o := range s.rendering.Objects {
		if !wanted[o.Key] || o.IsRequest() {
			continue
		}
		r, served, err := s.resolveKind(ctx, o.GVK)
		if err != nil || !served {
			continue
		}
		p := s.newTargetObject(o, r)
		if !recorded[render.IdentityOf(&p.item)] {
			out = append(out, p)
		}
	}
	if creation && s.rendering.Release != nil {
		if hooks, err := s.existingObjects(ctx, s.rendering.HookObjects()); err == nil {
			out = append(out, withoutDuplicates(hooks, out...)...)
		}
	}
	return out
}
