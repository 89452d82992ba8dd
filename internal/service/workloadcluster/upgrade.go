package workloadcluster

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// checkUpgrade rejects downgrades and skipped minor versions, which the version skew
// policy of Kubernetes does not support. Versions are those of the arguments or of the
// cluster's template.
func checkUpgrade(ctx context.Context, plan, state *model, diags *diag.Diagnostics) {
	if state == nil {
		return
	}
	wanted, at := plan.version(ctx)
	present, _ := state.version(ctx)
	from, to := parseVersion(present), parseVersion(wanted)
	if from == nil || to == nil {
		return
	}
	refuse := func(summary, detail string) {
		diags.AddAttributeError(at, summary, detail)
	}
	switch {
	case slices.Compare(to, from) < 0:
		refuse("Downgrade of Kubernetes", fmt.Sprintf("Workload cluster %q has version %s and cannot be downgraded to %s: Kubernetes does not support downgrades. Set the present version or a later one.",
			plan.Name.ValueString(), present, wanted))
	case to[0] != from[0] || to[1] > from[1]+1:
		refuse("Minor Version Skipped", fmt.Sprintf("Workload cluster %q has version %s. Upgrade one minor version at a time: to %d.%d first, then to %s.",
			plan.Name.ValueString(), present, from[0], from[1]+1, wanted))
	}
}

// parseVersion returns the three numbers of a version, nil when it is none.
func parseVersion(text string) []int {
	core, _, _ := strings.Cut(strings.TrimPrefix(text, "v"), "-")
	core, _, _ = strings.Cut(core, "+")
	parts := strings.Split(core, ".")
	if len(parts) != 3 {
		return nil
	}
	out := make([]int, 0, len(parts))
	for _, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}
