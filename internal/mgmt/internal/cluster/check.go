package cluster

import (
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// checkHooks reports missing hooks, without which the cluster would not be installed or would not follow its servers.
func checkHooks(driver string, hooks []vnfm.Hook, problems *vnfm.Problems) {
	named := func(name string) bool {
		return slices.ContainsFunc(hooks, func(h vnfm.Hook) bool { return h.Name == name })
	}
	if !named("instantiate_end") {
		//findings:says name the driver as the implementation of instantiate_end in the Vnflcm interface
		problems.Errorf("", 0, 0, "the VNFD does not name the management driver %q for hook instantiate_end: nothing would be installed", driver)
	}
	// With one of these hooks the engine calls the driver for every operation that changes its nodes.
	var missing []string
	for _, end := range []string{"_start", "_end"} {
		if !named("scale"+end) && !named("heal"+end) {
			missing = append(missing, "scale"+end)
		}
	}
	if !named("terminate_start") && !named("terminate_end") {
		missing = append(missing, "terminate_end")
	}
	if len(missing) > 0 {
		//findings:says name the driver as the implementation of these operations in the Vnflcm interface
		problems.Warnf("", 0, 0, "the VNFD does not name the management driver %q for %s: the cluster will not follow its servers", driver, strings.Join(missing, ", "))
	}
}
