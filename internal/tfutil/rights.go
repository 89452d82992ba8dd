package tfutil

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// UncheckedSummary is the summary of the warning of a run that lacks rights which an apply needs.
const UncheckedSummary = "Not Everything Was Checked: This Run May Not Write"

const uncheckedDetail = "The credentials of this run may do less than those of an apply, as is usual for the job of a pull request. The plan is complete, but it does not show\n" +
	"- what a VIM would reject of new and changed objects: there was no dry run;\n" +
	"- drift of objects of kinds that the credentials may not read;\n" +
	"- what a refresh would write into the store: records that are missing there were rebuilt for this run alone, or are UNKNOWN if that was not possible.\n" +
	"The next run with all rights does that. If this one is to apply, give it the missing rights."

// WarnUnchecked says that something was not checked since rights are missing; err is what was refused. All resources of a provider
// configuration have one warning together: that of the first one, which names what it was refused as an example. The log has them all.
func (p *ProviderData) WarnUnchecked(ctx context.Context, diags *diag.Diagnostics, object string, err error) {
	tflog.Info(ctx, "not checked for lack of rights", map[string]any{"object": object, "error": err.Error()})
	if p.unchecked.CompareAndSwap(false, true) {
		diags.AddWarning(UncheckedSummary, uncheckedDetail+"\n\nFirst refused: "+object+": "+err.Error()+period(err.Error()))
	}
}
