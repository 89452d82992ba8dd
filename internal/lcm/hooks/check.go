package hooks

import (
	"maps"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Check finds hooks whose management driver is not known, and what a request and the planned
// instance lack for those that are. Common has what is the same for all drivers.
func (d Drivers) Check(common vnfm.HookCheck, problems *vnfm.Problems) {
	f, request := common.Flavour, common.Request
	for _, hook := range slices.Sorted(maps.Keys(f.Operations)) {
		impl := f.Operations[hook]
		if impl.Artifact == "" || !isHook(hook) {
			continue
		}
		if _, driver := d.find(impl); driver == nil {
			*problems = append(*problems, vnfm.Problem{
				Summary: "the VNFD names the management driver " + strconv.Quote(impl.Artifact) + " for hook " + hook + ", which is not known",
				Detail: "a package's own Python classes are not run; the built-in management drivers, by name or type of the artifact, are " +
					vnfm.QuotedNames(slices.Collect(maps.Keys(d))),
			})
		}
	}
	checks := map[string]*vnfm.HookCheck{}
	check := func(name string) *vnfm.HookCheck {
		if checks[name] == nil {
			own := common
			own.Params = ownParams(d[name], request.Management)
			own.Later = request.SecretsLater || len(request.ParamsLater) > 0
			checks[name] = &own
		}
		return checks[name]
	}
	for _, b := range d.All(f) {
		c := check(b.Name)
		c.Hooks = append(c.Hooks, b.Hook)
	}
	if request.Sink != nil && d[vnfm.CredentialsSender] != nil {
		check(vnfm.CredentialsSender)
	}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		*problems = append(*problems, d[name].Check(checks[name])...)
	}
}
