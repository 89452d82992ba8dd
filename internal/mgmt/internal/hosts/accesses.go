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
			o.Errorf(vdu, "its VDUs are "+strings.Join(f.VDUIDs(), ", "), "is not a VDU of deployment flavour %q", f.ID)
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

// noAccess is that ParamAccess does not have a VDU; why says what it is needed for.
func noAccess(vdu, why string) vnfm.Problem {
	return vnfm.Problem{
		Attribute: vnfm.AttributeParams, Key: ParamAccess, Summary: fmt.Sprintf("%s.%s is missing", ParamAccess, vdu),
		Detail: why + "; say how they are reached: ssh_cp_name, username, and password or private_key",
	}
}

// CheckHooks checks the hooks of a driver that runs a program of the package on, or for, the servers of VDUs. program and
// preposition are for its texts: "a script" and "on". read returns the VDUs of a hook, and what is wrong with it.
func CheckHooks(c *vnfm.HookCheck, access map[string]Access, program, preposition string, problems *vnfm.Problems, read func(vnfm.Hook) ([]string, error)) {
	for _, hook := range c.Hooks {
		refuse := func(text string) { problems.Errorf(hook.Implementation.File, 0, 0, "hook %s: %s", hook.Name, text) }
		if hook.Name == "instantiate_start" || hook.Name == "terminate_end" {
			refuse(fmt.Sprintf("there are no servers %s which %s could run; servers exist from instantiate_end to terminate_start", preposition, program))
			continue
		}
		vdus, err := read(hook)
		if err != nil {
			refuse(err.Error())
		}
		for _, vdu := range vdus {
			if _, ok := access[vdu]; !ok && !c.Later {
				*problems = append(*problems, noAccess(vdu, fmt.Sprintf("the VNFD has %s run %s the servers of this VDU at hook %s", program, preposition, hook.Name)))
			}
		}
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
			return nil, fmt.Errorf("names %q, which is not a VDU of deployment flavour %q", vdu, f.ID)
		}
	}
	if len(out) == 0 {
		out = f.VDUIDs()
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
