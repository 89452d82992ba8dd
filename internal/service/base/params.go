package base

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// rememberParams has a record that a refresh has written again take the write-only parameters of the configuration. A plan without
// changes calls no apply, and a destroy that follows receives the state alone.
func (r *InstanceResource[M, P]) rememberParams(ctx context.Context, id string, spec vnfm.InstanceSpec, diags *diag.Diagnostics) {
	if len(spec.SecretParams) == 0 || spec.SecretsLater || len(spec.ParamsLater) > 0 {
		return
	}
	err := r.data.Manager.RememberParams(ctx, id, spec)
	if err != nil && !errors.Is(err, vnfm.ErrNotFound) {
		diags.AddWarning(fmt.Sprintf("Parameters of %s Were Not Recorded", r.config.titled(spec.Name)),
			tfutil.ErrorDetail(err)+"\n\nThe store had lost the record, and a destroy needs these parameters. Correct the cause and apply again before you destroy.")
	}
}
