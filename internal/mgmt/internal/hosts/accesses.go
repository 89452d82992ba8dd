package hosts

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ParamAccess is the additional parameter that says how the servers of each VDU are
// reached.
const ParamAccess = "ssh_access"

// ReadAccesses reads ParamAccess: how the servers of each VDU are reached, by its id.
func ReadAccesses(root *params.Object, f *vnfm.Flavour) map[string]Access {
	out := map[string]Access{}
	o := root.Object(ParamAccess)
	if o == nil {
		return out
	}
	for _, vdu := range o.Names() {
		below := o.Object(vdu)
		if below == nil {
			continue
		}
		if f.VDU(vdu) == nil {
			o.Errorf(vdu, "its VDUs are "+strings.Join(flavourVDUs(f), ", "), "is no VDU of deployment flavour %q", f.ID)
			continue
		}
		a := ReadAccess(below, f)
		below.Done()
		if a.VDU != "" && a.VDU != vdu {
			below.Errorf("ssh_cp_name", "", "names a connection point of VDU %s: %q", a.VDU, a.ConnectionPoint)
		}
		out[vdu] = a
	}
	return out
}

func flavourVDUs(f *vnfm.Flavour) []string {
	ids := make([]string, 0, len(f.VDUs))
	for n := range f.VDUs {
		ids = append(ids, f.VDUs[n].ID)
	}
	return ids
}

// NoAccess is that ParamAccess does not have a VDU; why says what it is needed for.
func NoAccess(vdu, why string) vnfm.Problem {
	return vnfm.Problem{
		Attribute: "additional_params", Key: ParamAccess, Summary: fmt.Sprintf("%s.%s is missing", ParamAccess, vdu),
		Detail: why + "; say how they are reached: ssh_cp_name, username, and password or private_key",
	}
}

// ReadVDUs reads a list of VDUs as an input of a hook has it, in JSON or with commas; all of
// the flavour when it is empty.
func ReadVDUs(text string, f *vnfm.Flavour) ([]string, error) {
	var out []string
	if json.Unmarshal([]byte(text), &out) != nil {
		for _, item := range strings.Split(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				out = append(out, item)
			}
		}
	}
	for _, vdu := range out {
		if f.VDU(vdu) == nil {
			return nil, fmt.Errorf("names %q, which is no VDU of deployment flavour %q", vdu, f.ID)
		}
	}
	if len(out) == 0 {
		out = flavourVDUs(f)
	}
	return out, nil
}

// Texts are all texts and numbers in a value of parameters: any of them may be a secret.
func Texts(value any) []vnfm.Secret {
	var out []vnfm.Secret
	for _, text := range vnfm.TextsIn(value) {
		out = append(out, vnfm.Secret(text))
	}
	return out
}
