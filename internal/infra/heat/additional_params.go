package heat

import (
	"fmt"
	"maps"
	"slices"

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

// paramsIgnored are names that users of Tacker give and that need nothing to be done,
// with the reason.
var paramsIgnored = map[string]string{
	"lcm-operation-user-data":                "Python classes of a package are never run: the parameters of its templates are computed from the VNFD and nfv",
	"lcm-operation-user-data-class":          "Python classes of a package are never run: the parameters of its templates are computed from the VNFD and nfv",
	"lcm-operation-coordinate-new-vnf":       "Python classes of a package are never run",
	"lcm-operation-coordinate-new-vnf-class": "Python classes of a package are never run",
	"lcm-operation-coordinate-old-vnf":       "Python classes of a package are never run",
	"lcm-operation-coordinate-old-vnf-class": "Python classes of a package are never run",
	"upgrade_type":                           "a change of the package is always made VNFC by VNFC",
	"vdu_params":                             "a change of the package is made to all VDUs that it changes",
}

// Params implements vnfm.InfraDriver.
func (*Driver) Params() vnfm.InfraParams {
	return vnfm.InfraParams{Driver: driverName, Names: append(slices.Sorted(maps.Keys(paramsIgnored)), paramNFV)}
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

// readParams checks the additional parameters of an instance. Those that the driver does
// not know are for the templates of the package, which say whether they have them.
func readParams(t *vnfm.Target, ps *vnfm.Problems) params {
	out, ignored := params{stack: map[string]any{}}, map[string]string{}
	all := t.Params()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value := all[key]
		reason, known := paramsIgnored[key]
		owner := t.ParamOwners.Infra[key]
		switch {
		case key == paramNFV:
			nfv, ok := value.(map[string]any)
			_, plain := t.Instance.AdditionalParams[key].(map[string]any)
			switch {
			case !ok && plain:
				*ps = append(*ps, vnfm.Problem{Attribute: vnfm.AttributeSecretParams, Key: key, Summary: fmt.Sprintf("additional parameter %q must be a map", key)})
			case !ok:
				*ps = append(*ps, vnfm.Problem{
					Attribute: vnfm.AttributeParams, Key: key, Summary: fmt.Sprintf("additional parameter %q must be a map", key),
					Detail: "for example { VDU = { VDU1 = { computeFlavourId = \"m1.small\" } } }",
				})
			}
			out.nfv = nfv
		case known:
			ignored[key] = reason
		case owner != "":
			ignored[key] = "a parameter of " + owner
		default:
			out.stack[key] = value
		}
	}
	t.WarnIgnored(driverName, ignored, ps)
	return out
}
