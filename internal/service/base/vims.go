package base

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// vimsKey is where the private state of an instance keeps the VIMs that it is on.
const vimsKey = "vims"

// ensureVIMs registers the VIMs of an instance again whose records are lost and whose connections
// come with this run. The private state says which they are.
func (r *InstanceResource[M, P]) ensureVIMs(ctx context.Context, private privateState, diags *diag.Diagnostics) error {
	known, failed := readNote[[]vnfm.KnownVIM](ctx, private, vimsKey, diags)
	for _, v := range known {
		failed = errors.Join(failed, r.data.Manager.EnsureVIM(ctx, v))
	}
	return failed
}

// vimName is the name of a VIM that the private state knows, quoted, else its id.
func (r *InstanceResource[M, P]) vimName(ctx context.Context, private privateState, id string, diags *diag.Diagnostics) string {
	known, _ := readNote[[]vnfm.KnownVIM](ctx, private, vimsKey, diags)
	for _, v := range known {
		if v.ID == id {
			return strconv.Quote(v.Name)
		}
	}
	return strconv.Quote(id)
}

// keepVIMs notes the VIMs of an instance: a runner with an empty store finds connections that come with its run by their names.
func (r *InstanceResource[M, P]) keepVIMs(ctx context.Context, private privateStateOut, i *vnfm.Instance, diags *diag.Diagnostics) {
	var known []vnfm.KnownVIM
	for _, id := range i.VIMIDs() {
		v, err := r.data.Manager.KnownVIM(ctx, id)
		if err != nil {
			// Without the note a lost record is not written again by itself.
			continue
		}
		known = append(known, v)
	}
	if len(known) > 0 {
		writeNote(ctx, private, vimsKey, known, diags)
	}
}

// warnOfVIM says that a VIM could not be registered again; one that is another by now is an error.
func (r *InstanceResource[M, P]) warnOfVIM(name string, err error, diags *diag.Diagnostics) {
	summary := fmt.Sprintf("%s of %s Cannot Be Used", r.config.VIMNoun, r.config.titled(name))
	if errors.As(err, new(*vnfm.OtherClusterError)) {
		diags.AddError(summary, tfutil.ErrorDetail(err))
		return
	}
	diags.AddWarning(summary, tfutil.ErrorDetail(err))
}
