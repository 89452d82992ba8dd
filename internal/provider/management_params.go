package provider

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// managementParamsArgument is the argument with the parameters of management drivers that come with each run.
const managementParamsArgument = "management_params"

func managementParamsAttribute() schema.DynamicAttribute {
	return schema.DynamicAttribute{
		Optional:  true,
		Sensitive: true,
		MarkdownDescription: "Parameters of management drivers that come with each run: a map from the name of a `vnf_instance`, or its id, to an object with the parameters that its `additional_params_wo` has, such as logins of servers. " +
			"A destroy takes from here what it needs if the record of the instance was lost and Terraform's state does not have it. " +
			"They are stored nowhere, may be ephemeral values, and never replace what the state has; names of other instances are ignored.",
	}
}

// readManagementParams reads the parameters of this run. Entries that hold an unknown value are left out: only an apply needs them,
// which knows all. The findings have no path: Terraform quotes the lines of a path, and a secret that is written there.
func readManagementParams(all types.Dynamic, diags *diag.Diagnostics) vnfm.RunParams {
	const summary = "Unusable Parameters of Management Drivers"
	entries, unknown, err := tfutil.KnownMapToGo(all)
	switch {
	case errors.Is(err, tfutil.ErrUnknown):
		return nil
	case err != nil:
		diags.AddError(summary, fmt.Sprintf("%s: %s. Set a map from the name or the id of an instance to an object of its parameters.", managementParamsArgument, err))
		return nil
	}
	out := vnfm.RunParams{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if entries[name] == nil || slices.Contains(unknown, name) {
			continue
		}
		params, ok := entries[name].(map[string]any)
		if !ok {
			diags.AddError(summary, fmt.Sprintf("%s[%q] is no object. Set an object of the parameters of that instance, such as { ssh_access = { ... } }.", managementParamsArgument, name))
			continue
		}
		out[name] = params
	}
	return out
}
