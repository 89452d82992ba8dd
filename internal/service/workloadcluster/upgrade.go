package workloadcluster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// checkUpgrade refuses a change of version that Kubernetes does not support (its
// version skew policy): back, or over a minor version.
func checkUpgrade(plan, state *model, diags *diag.Diagnostics) {
	if state == nil || !tfutil.Set(plan.KubernetesVersion) || !tfutil.Set(state.KubernetesVersion) {
		return
	}
	from, to := parseVersion(state.KubernetesVersion.ValueString()), parseVersion(plan.KubernetesVersion.ValueString())
	if from == nil || to == nil || plan.KubernetesVersion.Equal(state.KubernetesVersion) {
		return
	}
	refuse := func(summary, detail string) {
		diags.AddAttributeError(path.Root("kubernetes_version"), summary, detail)
	}
	switch {
	case less(to, from):
		refuse("Downgrade of Kubernetes", fmt.Sprintf("Workload cluster %q has version %s and cannot go back to %s: Kubernetes supports no downgrade. Write the present version or a later one.",
			plan.Name.ValueString(), state.KubernetesVersion.ValueString(), plan.KubernetesVersion.ValueString()))
	case to[0] != from[0] || to[1] > from[1]+1:
		refuse("Minor Version Skipped", fmt.Sprintf("Workload cluster %q has version %s, and an upgrade goes over one minor version at a time: to %d.%d first, and to %s after that.",
			plan.Name.ValueString(), state.KubernetesVersion.ValueString(), from[0], from[1]+1, plan.KubernetesVersion.ValueString()))
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

func less(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
