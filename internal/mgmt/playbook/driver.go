// Package playbook is the management driver that runs playbooks of a VNF package on a host
// of Ansible, for the servers of an instance.
package playbook

import (
	"context"
	"fmt"
	"maps"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/ansible"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// paramHost is the additional parameter for the host of Ansible. The attributes of paramInput are variables of the playbook.
const (
	paramHost  = "ansible_host"
	paramInput = "ansible_params"
)

// bound is the number of servers that are waited for concurrently.
const bound = 8

// Driver is the management driver. It is safe for concurrent use.
type Driver struct{}

var _ vnfm.ManagementDriver = Driver{}

// New returns the driver.
func New() Driver { return Driver{} }

// Params implements vnfm.ManagementDriver.
func (Driver) Params() []string { return []string{paramHost, paramInput, hosts.ParamAccess} }

// Check implements vnfm.ManagementDriver.
func (Driver) Check(c *vnfm.HookCheck) vnfm.Problems {
	var problems vnfm.Problems
	s := readSettings(params.Root(c.Params, c.Later, &problems), c.Flavour)
	hosts.CheckHooks(c, s.access, "a playbook", "for", &problems, func(hook vnfm.Hook) ([]string, error) {
		t, err := readTask(hook, c.Flavour)
		if err != nil {
			return nil, err
		}
		return t.vdus, checkPlaybook(c.Package.Content, t.file)
	})
	return problems
}

// Run implements vnfm.ManagementDriver. The playbook runs once, for all servers of the VDUs
// that the VNFD names.
func (Driver) Run(ctx context.Context, call *vnfm.HookCall) error {
	if call.Hook.Implementation.File == "" {
		// Changed parameters call the driver also where the VNFD names no playbook.
		return nil
	}
	t, err := readTask(call.Hook, call.Flavour)
	if err != nil {
		return err
	}
	var problems vnfm.Problems
	s := readSettings(params.Root(call.Params, false, &problems), call.Flavour)
	if err := problems.Err(); err != nil {
		return err
	}
	return call.Once(ctx, "playbook", func(ctx context.Context) error {
		i, err := find(ctx, call, t, s)
		if err != nil {
			return err
		}
		if len(i.servers) == 0 {
			call.Recorder.Progress(ctx, fmt.Sprintf("playbook %s has no server to run for", t.file))
			return nil
		}
		return run(ctx, call, t, s, i)
	})
}

// find waits for the servers. Connecting records their host keys, the only ones that Ansible then accepts.
func find(ctx context.Context, call *vnfm.HookCall, t *task, s *settings) (*inventory, error) {
	has, err := call.Resources(ctx)
	if err != nil {
		return nil, err
	}
	servers, err := hosts.FindAll(s.access, t.vdus, has)
	if err != nil {
		return nil, err
	}
	silent := make([]bool, len(servers))
	indices := make([]int, 0, len(servers))
	for n := range servers {
		indices = append(indices, n)
	}
	err = remote.Each(ctx, bound, indices, func(ctx context.Context, n int) error {
		server := servers[n]
		c, err := server.Open(ctx, call)
		if err == nil {
			return c.Close()
		}
		if server.MayFail(ctx, call) {
			call.Recorder.Progress(ctx, fmt.Sprintf("playbook %s does not run for VNFC %s, which is replaced: %s", t.file, server.ID, err))
			silent[n] = true
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	i := &inventory{call: call, vdus: t.vdus, access: s.access}
	for n, server := range servers {
		if !silent[n] {
			i.servers = append(i.servers, server)
		}
	}
	return i, nil
}

// run copies the playbook to the host of Ansible, runs it and removes the copy.
func run(ctx context.Context, call *vnfm.HookCall, t *task, s *settings, i *inventory) (err error) {
	w := &workspace{host: s.host, call: call}
	if err := w.open(ctx); err != nil {
		return fmt.Errorf("playbook %s of the package: %w", t.file, err)
	}
	defer func() {
		if closeErr := w.close(ctx); err == nil && closeErr != nil {
			err = fmt.Errorf("playbook %s of the package: %w", t.file, closeErr)
		}
	}()
	if err := w.fill(ctx, t, i); err != nil {
		return fmt.Errorf("playbook %s of the package: %w", t.file, err)
	}
	_, err = ansible.Preflight(ctx, w.client, ansible.Needs{Dir: w.playbooks(), Playbooks: []string{t.name()}, Passwords: i.passwords()})
	if err != nil {
		return fmt.Errorf("playbook %s of the package: %w", t.file, err)
	}
	_, err = ansible.Run(ctx, ansible.Play{
		Host: w.client, Dir: w.playbooks(), Inventory: w.inventory(), Playbook: t.name(), ExtraVars: variables(call, t, s),
		Become: t.sudo, KnownHosts: i.knownHosts(), Timeout: s.timeout, Secrets: s.secrets(),
		Output: func(line string) { call.Recorder.Progress(ctx, t.name()+": "+line) },
	})
	if err != nil {
		return fmt.Errorf("hook %s: %w", call.Hook.Name, err)
	}
	return nil
}

// variables are the extra variables of the playbook: inputs of the hook, overridden by parameters of the user, and facts about the hook.
func variables(call *vnfm.HookCall, t *task, s *settings) map[string]any {
	out := map[string]any{}
	for name, text := range t.inputs {
		out[name] = text
	}
	maps.Copy(out, s.input)
	out["vnf_instance_id"], out["vnf_instance_name"] = call.Instance.ID, call.Instance.Name
	out["vnf_hook"], out["vnf_operation"] = call.Hook.Name, string(call.Operation)
	return out
}
