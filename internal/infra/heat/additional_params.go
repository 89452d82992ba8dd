package heat

import (
	"context"
	"fmt"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// paramNFV is the additional parameter that is merged over the computed one of that name.
const paramNFV = "nfv"

// driverName is how problems refer to the driver.
const driverName = "the OpenStack driver"

// params are the additional parameters as the driver understands them.
type params struct {
	nfv map[string]any
	// stack are values for parameters that a template of the package declares itself.
	stack map[string]any
}

// Params implements vnfm.InfraDriver.
func (*Driver) Params() vnfm.InfraParams {
	return vnfm.InfraParams{
		Driver: driverName, Names: []string{paramNFV, ParamStackName},
		Ignored: map[string]string{
			"upgrade_type": "a change of the package is always made VNFC by VNFC",
			"vdu_params":   "a change of the package is made to all VDUs that it changes",
		},
		Links: true,
	}
}

// PackageParams implements vnfm.InfraDriver: those that the template of the flavour declares, besides the computed one.
func (*Driver) PackageParams(ctx context.Context, p *vnfm.Package, f *vnfm.Flavour) ([]string, bool) {
	return hot.Declared(budget.New(ctx, budget.Limits{}), p, f)
}

// Supports implements vnfm.InfraDriver: templates, or servers where nothing is of containers.
func (*Driver) Supports(p *vnfm.Package, f *vnfm.Flavour) bool {
	if hot.HasTemplates(p, f) {
		return true
	}
	return !p.HasContainers(f) && (hot.HasTemplatesAside(p) || slices.ContainsFunc(f.VDUs, func(v vnfm.VDU) bool { return isServer(f, &v) }))
}

// isServer reports whether a VDU has something to boot from, itself or in one of its storages. Its sizes tell nothing: Tacker's
// packages of charts have them too.
func isServer(f *vnfm.Flavour, v *vnfm.VDU) bool {
	return len(v.SWImages) > 0 || slices.ContainsFunc(v.StorageIDs, func(id string) bool {
		st := f.Storage(id)
		return st != nil && len(st.SWImages) > 0
	})
}

// readParams reads the additional parameters of an instance: nfv, and those that the template declares.
func readParams(t *vnfm.Target, source *hot.Source, ps *vnfm.Problems) params {
	out := params{stack: map[string]any{}}
	all := t.Params()
	for _, name := range source.Declared() {
		if value, given := all[name]; given {
			out.stack[name] = value
		}
	}
	value, given := all[paramNFV]
	nfv, ok := value.(map[string]any)
	if given && !ok {
		p := vnfm.Problem{Attribute: vnfm.AttributeParams, Key: paramNFV, Summary: fmt.Sprintf("additional parameter %q must be a map", paramNFV)}
		if _, plain := t.Instance.AdditionalParams[paramNFV].(map[string]any); plain {
			// The secret one has taken its place.
			p.Attribute = vnfm.AttributeSecretParams
		} else {
			p.Detail = "for example { VDU = { VDU1 = { computeFlavourId = \"m1.small\" } } }"
		}
		*ps = append(*ps, p)
	}
	out.nfv = nfv
	return out
}
