package base

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// onUnreachable is the argument that says what a destroy does when the VIM cannot be reached.
const onUnreachable = "on_unreachable"

// providersOwn are the arguments that concern the provider alone.
var providersOwn = []string{onUnreachable, "timeouts", "lock_timeout"}

// changesOnUnreachableAlone reports whether an update changes on_unreachable and nothing else that concerns the VIM. Such an update is
// for a VIM that is gone, and asks it nothing.
func changesOnUnreachableAlone(plan, state tftypes.Value) bool {
	planned, before := map[string]tftypes.Value{}, map[string]tftypes.Value{}
	if plan.As(&planned) != nil || state.As(&before) != nil || planned[onUnreachable].Equal(before[onUnreachable]) {
		return false
	}
	for name, value := range planned {
		// What is unknown follows from arguments, which are known in an apply.
		if slices.Contains(providersOwn, name) || name == "operations" || name == "changes" || !value.IsKnown() {
			continue
		}
		if !value.Equal(before[name]) {
			return false
		}
	}
	return true
}

// setOnUnreachable takes over the arguments that concern the provider alone.
func setOnUnreachable(to, from *InstanceModel) {
	to.OnUnreachable, to.Timeouts, to.LockTimeout = from.OnUnreachable, from.Timeouts, from.LockTimeout
}
