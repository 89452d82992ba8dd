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
	checks := d.checks(common)
	if request.Sink != nil && d[vnfm.CredentialsSender] != nil && checks[vnfm.CredentialsSender] == nil {
		checks[vnfm.CredentialsSender] = d.check(vnfm.CredentialsSender, common)
	}
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		*problems = append(*problems, d[name].Check(checks[name])...)
	}
}

// CheckOperation finds what a request lacks for the management drivers that are called around an operation, and for no others.
func (d Drivers) CheckOperation(o *Operation, common vnfm.HookCheck) vnfm.Problems {
	called := map[string]bool{}
	for _, b := range slices.Concat(d.At(o, false), d.At(o, true)) {
		called[b.Name] = true
	}
	var problems vnfm.Problems
	checks := d.checks(common)
	for _, name := range slices.Sorted(maps.Keys(checks)) {
		if called[name] {
			problems = append(problems, d[name].Check(checks[name])...)
		}
	}
	return problems
}

// checks are what the drivers that the flavour names are to check, by their names.
func (d Drivers) checks(common vnfm.HookCheck) map[string]*vnfm.HookCheck {
	out := map[string]*vnfm.HookCheck{}
	for _, b := range d.All(common.Flavour) {
		if out[b.Name] == nil {
			out[b.Name] = d.check(b.Name, common)
		}
		out[b.Name].Hooks = append(out[b.Name].Hooks, b.Hook)
	}
	return out
}

// check is what one driver is to check.
func (d Drivers) check(name string, common vnfm.HookCheck) *vnfm.HookCheck {
	common.Params = ownParams(d[name], common.Request.Management)
	common.Later = common.Request.SecretsLater || len(common.Request.ParamsLater) > 0
	return &common
}
