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
	return vnfm.InfraParams{Driver: "the OpenStack driver", Names: append(slices.Sorted(maps.Keys(paramsIgnored)), paramNFV)}
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
	out := params{stack: map[string]any{}}
	problem := func(severity vnfm.Severity, key, summary, detail string) {
		*ps = append(*ps, vnfm.Problem{
			Severity: severity, Attribute: vnfm.AttributeParams, Key: key,
			Summary: fmt.Sprintf("additional parameter %q %s", key, summary), Detail: detail,
		})
	}
	all := t.Params()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value := all[key]
		reason, ignored := paramsIgnored[key]
		owner := t.ParamOwners.Infra[key]
		switch {
		case key == paramNFV:
			nfv, ok := value.(map[string]any)
			_, plain := t.Instance.AdditionalParams[key].(map[string]any)
			switch {
			case !ok && plain:
				*ps = append(*ps, vnfm.Problem{Attribute: vnfm.AttributeSecretParams, Key: key, Summary: fmt.Sprintf("additional parameter %q must be a map", key)})
			case !ok:
				problem(vnfm.SeverityError, key, "must be a map", "for example { VDU = { VDU1 = { computeFlavourId = \"m1.small\" } } }")
			}
			out.nfv = nfv
		case ignored:
			problem(vnfm.SeverityWarning, key, "is ignored", reason)
		case owner != "":
			problem(vnfm.SeverityError, key, "is not supported by the OpenStack driver", "it is a parameter of "+owner)
		default:
			out.stack[key] = value
		}
	}
	return out
}
