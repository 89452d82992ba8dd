package playbook

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The inputs of a hook in the VNFD that the driver reads. All others are variables of the playbook.
const (
	inputVDUs = "vdus"
	inputSudo = "sudo"
)

const defaultTimeout = 30 * time.Minute

// settings are the parameters.
type settings struct {
	host    remote.Host
	timeout time.Duration
	access  map[string]hosts.Access
	input   map[string]any
}

// readSettings reads the parameters; root collects the problems.
func readSettings(root *params.Object, f *vnfm.Flavour) *settings {
	s := &settings{access: hosts.ReadAccesses(root, f)}
	for _, vdu := range slices.Sorted(maps.Keys(s.access)) {
		checkLogin(root.Object(hosts.ParamAccess).Object(vdu), s.access[vdu].Login)
	}
	if below := root.Needed(paramHost, "ip_address, username, and password or private_key of the server that runs Ansible"); below != nil {
		s.readHost(below)
	}
	s.input = ansible.ReadVariables(root, paramInput)
	return s
}

func (s *settings) readHost(o *params.Object) {
	s.host, s.timeout = hosts.ReadAnsibleHost(o), o.Duration("timeout", defaultTimeout)
	o.Done()
}

// checkLogin rejects logins that the provider supports and Ansible does not.
func checkLogin(o *params.Object, login remote.Host) {
	if login.Jump != nil {
		o.Errorf("jump_host", "the host of Ansible logs in to the servers itself", "cannot be used for a playbook")
	}
	hosts.CheckAnsibleLogin(o, login)
}

// secrets are all secrets of the parameters, for masking.
func (s *settings) secrets() []vnfm.Secret {
	out := append(hosts.Secrets(s.host), vnfm.SecretsIn(s.input)...)
	for _, a := range s.access {
		out = append(out, hosts.Secrets(a.Login)...)
	}
	return out
}

// task is the request of a hook.
type task struct {
	// file is the playbook in the package. Its whole folder is copied.
	file   string
	vdus   []string
	sudo   bool
	inputs map[string]string
}

func (t *task) name() string   { return path.Base(t.file) }
func (t *task) folder() string { return path.Dir(t.file) }

// readTask reads a hook of the VNFD.
func readTask(hook vnfm.Hook, f *vnfm.Flavour) (*task, error) {
	if hook.Implementation.File == "" {
		return nil, fmt.Errorf("artifact %s has no file", hook.Implementation.Artifact)
	}
	t := &task{file: path.Clean(hook.Implementation.File), inputs: map[string]string{}}
	vdus := ""
	for _, name := range slices.Sorted(maps.Keys(hook.Implementation.Inputs)) {
		text := hook.Implementation.Inputs[name]
		switch name {
		case inputVDUs:
			vdus = text
		case inputSudo:
			var err error
			if t.sudo, err = strconv.ParseBool(text); err != nil {
				return nil, fmt.Errorf("input %s is %q: a boolean is needed", name, text)
			}
		default:
			if !ansible.IsVariable(name) {
				return nil, fmt.Errorf("input %q is not a valid name of an Ansible variable", name)
			}
			t.inputs[name] = text
		}
	}
	var err error
	if t.vdus, err = hosts.ReadVDUs(vdus, f); err != nil {
		return nil, fmt.Errorf("input %s %w", inputVDUs, err)
	}
	return t, nil
}

// checkPlaybook checks that a file of the package is a playbook, and that its folder can be copied to the host of Ansible.
func checkPlaybook(files fs.FS, file string) error {
	text, err := hosts.ReadProgram(files, file)
	if err != nil {
		return err
	}
	if path.Dir(file) == "." {
		return fmt.Errorf("%s is in the root of the package: put the playbook into a folder of its own, which is copied to the host of Ansible", file)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return fmt.Errorf("%s of the package is not a playbook: %w", file, err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.SequenceNode {
		return errors.New(file + " of the package is not a playbook: it must be a list of plays")
	}
	_, err = pack(files, path.Dir(file))
	return err
}
