package base

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// lostRecord is a record that a plan needs and that the store does not have: its id, the argument that has the id, the object in
// words, and the type of its resource.
type lostRecord struct {
	id            string
	at            path.Path
	object, owner string
}

// lostRecords are those that a plan lacks, given the error of its preview, but for the ids that are left out.
func (r *InstanceResource[M, P]) lostRecords(ctx context.Context, err error, spec vnfm.InstanceSpec, except ...string) []lostRecord {
	var lost []lostRecord
	for _, id := range vimIDs(spec) {
		if id == "" || slices.Contains(except, id) {
			continue
		}
		if _, err := r.data.Manager.VIM(ctx, id); vnfm.IsMissing(err, id) {
			at := path.Empty()
			if id == spec.VIMID {
				at = path.Root(r.config.VIMAttribute)
			}
			lost = append(lost, lostRecord{id, at, "VIM", "vnf_vim"})
		}
	}
	if id := spec.PackageID; id != "" && !slices.Contains(except, id) && vnfm.IsMissing(err, id) {
		lost = append(lost, lostRecord{id, r.config.ContentPath, "VNF package", "vnf_package"})
	}
	return slices.DeleteFunc(lost, func(each lostRecord) bool { return r.data.Expected(each.id) })
}

// vimIDs are the ids of the VIMs that a specification names.
func vimIDs(spec vnfm.InstanceSpec) []string {
	i := vnfm.Instance{VIMID: spec.VIMID, Connections: spec.Connections, Cluster: spec.Cluster}
	return i.VIMIDs()
}

// restoreLost writes the records again that a creation lacks and that this process has the states of. In the apply of a saved plan
// these are the states of resources with conditions, since Terraform calls no others that the plan does not change.
func (r *InstanceResource[M, P]) restoreLost(ctx context.Context, err error, spec vnfm.InstanceSpec, diags *diag.Diagnostics) {
	for _, each := range r.lostRecords(ctx, err, spec) {
		r.data.Restore(ctx, each.id, diags)
	}
}

// checkTargets rejects VIMs and packages that an update names anew and that the store does not have, unless the same apply registers
// them. A running function is never ended for a target that was not seen.
func (r *InstanceResource[M, P]) checkTargets(ctx context.Context, err error, plan P, state *M, spec vnfm.InstanceSpec, diags *diag.Diagnostics) {
	// Only the ids count here; the state was valid when it was written.
	var ignored diag.Diagnostics
	before, _ := P(state).Spec(ctx, state, &ignored)
	// A specification that is not known yet lacks it.
	spec.VIMID = plan.VIM().ValueString()
	for _, each := range r.lostRecords(ctx, err, spec, append(vimIDs(before), before.PackageID)...) {
		r.rejectLost(ctx, each, before.Name, diags)
	}
}

// resourceLabel is the form of the labels of resources.
var resourceLabel = lazyregexp.New(`^[A-Za-z_][-\w]*$`)

// rejectLost says that an argument has an id of nothing, and what it takes.
func (r *InstanceResource[M, P]) rejectLost(ctx context.Context, lost lostRecord, name string, diags *diag.Diagnostics) {
	label := "lab"
	detail := fmt.Sprintf("The store of this provider configuration has no %[1]s with the id %[2]q, and nothing in this plan registers one. "+
		"The argument takes the id of the %[1]s and not its name. If another configuration has the %[1]s, apply that one first.", lost.object, lost.id)
	if r.isName(ctx, lost) {
		detail = fmt.Sprintf("%q is the name of a %s, and the argument takes its id.", lost.id, lost.object)
		if resourceLabel.MatchString(lost.id) {
			label = lost.id
		}
	}
	diags.AddAttributeError(lost.at, fmt.Sprintf("VIM or Package of %s Not Found", r.config.titled(name)),
		fmt.Sprintf("%s Refer to its resource, for example as %s.%s.id. Nothing is changed or destroyed.", detail, lost.owner, label))
}

// isName reports whether the id of a lost record is the name of another one.
func (r *InstanceResource[M, P]) isName(ctx context.Context, lost lostRecord) bool {
	var err error
	if lost.owner == "vnf_vim" {
		_, err = r.data.Manager.VIMByName(ctx, lost.id)
	} else {
		_, err = r.data.Manager.PackageByName(ctx, lost.id)
	}
	return err == nil
}

// warnOfLost names the VIMs and the package of a creation that the store does not have, given the error of its preview; without the
// package the plan shows no objects. It is an error where a name stands for an id; else ids may be those of a mock, or of the store of
// another machine, where the apply runs. In the apply of a saved plan over a store that was lost since, Terraform has the error that the
// plan is not the one that was saved, and this is the reason.
func (r *InstanceResource[M, P]) warnOfLost(ctx context.Context, err error, spec vnfm.InstanceSpec, diags *diag.Diagnostics) {
	var objects, owners []string
	for _, each := range r.lostRecords(ctx, err, spec) {
		if r.isName(ctx, each) {
			r.rejectLost(ctx, each, spec.Name, diags)
			continue
		}
		objects, owners = append(objects, fmt.Sprintf("%s %q", each.object, each.id)), append(owners, each.owner)
	}
	if len(objects) == 0 {
		return
	}
	diags.AddWarning(fmt.Sprintf("VIM or Package of %s Not Found", r.config.titled(spec.Name)), fmt.Sprintf("The store of this provider configuration has no record of %s, and nothing in this run writes it again. "+
		"If another configuration has it, apply that one first.\n\n"+
		"If this is the apply of a saved plan, the store was lost since, and Terraform finds the final plan inconsistent: plan and apply in one run. Or add a postcondition to the %s, such as one on its status: "+
		"Terraform applies a saved plan without calling resources that have neither changes nor conditions.", strings.Join(objects, " and of "), strings.Join(slices.Compact(owners), " and the ")))
}
