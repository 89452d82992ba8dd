// Package script is the management driver that runs shell scripts of a VNF package on the
// servers of an instance.
package script

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// paramInput is the additional parameter that scripts get unchanged.
const paramInput = "script_params"

// The inputs of a hook in the VNFD that the driver reads. The script gets all others.
const (
	inputVDUs    = "vdus"
	inputSudo    = "sudo"
	inputTimeout = "timeout"
)

const (
	defaultTimeout = 30 * time.Minute
	// bound is the number of servers that run the script concurrently.
	bound = 8
)

// Driver is the management driver. It is safe for concurrent use.
type Driver struct{}

var _ vnfm.ManagementDriver = Driver{}

// New returns the driver.
func New() Driver { return Driver{} }

// Params implements vnfm.ManagementDriver.
func (Driver) Params() []string { return []string{hosts.ParamAccess, paramInput} }

// task is the request of a hook.
type task struct {
	file    string
	vdus    []string
	sudo    bool
	timeout time.Duration
	inputs  map[string]string
}

// Check implements vnfm.ManagementDriver.
func (Driver) Check(c *vnfm.HookCheck) vnfm.Problems {
	var problems vnfm.Problems
	access := hosts.ReadAccesses(params.Root(c.Params, c.Later, &problems), c.Flavour)
	hosts.CheckHooks(c, access, "a script", "on", &problems, func(hook vnfm.Hook) ([]string, error) {
		t, err := readTask(hook, c.Flavour)
		if err != nil {
			return nil, err
		}
		_, err = hosts.ReadProgram(c.Package.Content, t.file)
		return t.vdus, err
	})
	return problems
}

// readTask reads a hook of the VNFD.
func readTask(hook vnfm.Hook, f *vnfm.Flavour) (*task, error) {
	t := &task{file: hook.Implementation.File, timeout: defaultTimeout, inputs: map[string]string{}}
	if t.file == "" {
		return nil, fmt.Errorf("artifact %s has no file", hook.Implementation.Artifact)
	}
	vdus := ""
	for _, name := range slices.Sorted(maps.Keys(hook.Implementation.Inputs)) {
		text := hook.Implementation.Inputs[name]
		var err error
		switch name {
		case inputVDUs:
			vdus = text
		case inputSudo:
			t.sudo, err = strconv.ParseBool(text)
		case inputTimeout:
			t.timeout, err = time.ParseDuration(text)
		default:
			t.inputs[name] = text
		}
		if err != nil {
			return nil, fmt.Errorf("input %s is %q: a boolean or a duration such as 10m is needed", name, text)
		}
	}
	var err error
	if t.vdus, err = hosts.ReadVDUs(vdus, f); err != nil {
		return nil, fmt.Errorf("input %s %w", inputVDUs, err)
	}
	return t, nil
}

// Run implements vnfm.ManagementDriver. The script runs concurrently on the servers of the VDUs that the VNFD names. A resumed operation
// skips servers where the script has succeeded.
func (Driver) Run(ctx context.Context, call *vnfm.HookCall) error {
	if call.Hook.Implementation.File == "" {
		// Changed parameters call the driver also where the VNFD names no script.
		return nil
	}
	t, err := readTask(call.Hook, call.Flavour)
	if err != nil {
		return err
	}
	text, err := hosts.ReadProgram(call.Package.Content, t.file)
	if err != nil {
		return err
	}
	var problems vnfm.Problems
	access := hosts.ReadAccesses(params.Root(call.Params, false, &problems), call.Flavour)
	if err := problems.Err(); err != nil {
		return err
	}
	has, err := call.Resources(ctx)
	if err != nil {
		return err
	}
	servers, err := hosts.FindAll(access, t.vdus, has)
	if err != nil {
		return err
	}
	inventory, err := json.Marshal(describe(call, has))
	if err != nil {
		return err
	}
	return remote.Each(ctx, bound, servers, func(ctx context.Context, s hosts.Server) error {
		return call.Once(ctx, s.ID, func(ctx context.Context) error {
			err := run(ctx, call, t, text, inventory, s)
			if err != nil && s.MayFail(ctx, call) {
				call.Recorder.Progress(ctx, fmt.Sprintf("script %s did not run on VNFC %s, which is replaced: %s", t.file, s.ID, err))
				return nil
			}
			return err
		})
	})
}

func run(ctx context.Context, call *vnfm.HookCall, t *task, text string, inventory []byte, s hosts.Server) error {
	c, err := s.Open(ctx, call)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	env := map[string]string{
		"VNF_INSTANCE_ID": call.Instance.ID, "VNF_INSTANCE_NAME": call.Instance.Name, "VNF_HOOK": call.Hook.Name, "VNF_OPERATION": string(call.Operation),
		"VNF_VDU_ID": s.VDUID, "VNF_VNFC_ID": s.ID, "VNF_VNFC_NAME": s.Resource, "VNF_ADDRESS": s.Address,
		"VNF_LEAVING": strconv.FormatBool(slices.Contains(call.Leaving, s.ID)),
	}
	maps.Copy(env, t.inputs)
	_, err = hosts.RunProgram(ctx, c, remote.Command{
		What: fmt.Sprintf("script %s of the package on VNFC %s", t.file, s.ID), Env: env, Stdin: strings.NewReader(string(inventory)),
		Sudo: t.sudo, Timeout: t.timeout, Secrets: vnfm.SecretsIn(call.Params[paramInput]),
		Output: func(line string) { call.Recorder.Progress(ctx, s.ID+": "+line) },
	}, text)
	return err
}

// inventory is the standard input of a script, as JSON.
type inventory struct {
	InstanceID string   `json:"instance_id"`
	Name       string   `json:"name"`
	Operation  string   `json:"operation"`
	Hook       string   `json:"hook"`
	FlavourID  string   `json:"flavour_id"`
	VNFCs      []member `json:"vnfcs"`
	// Params is the additional parameter script_params, overridden by its secret twin.
	Params any `json:"params,omitempty"`
}

type member struct {
	ID               string              `json:"id"`
	VDUID            string              `json:"vdu_id"`
	Name             string              `json:"name"`
	Addresses        []string            `json:"addresses"`
	ConnectionPoints map[string][]string `json:"connection_points"`
	Leaving          bool                `json:"leaving"`
}

func describe(call *vnfm.HookCall, has *vnfm.ResourceInfo) inventory {
	out := inventory{
		InstanceID: call.Instance.ID, Name: call.Instance.Name, Operation: string(call.Operation), Hook: call.Hook.Name,
		FlavourID: call.Instance.FlavourID, VNFCs: []member{}, Params: call.Params[paramInput],
	}
	for _, c := range has.VNFCs {
		out.VNFCs = append(out.VNFCs, member{
			ID: c.ID, VDUID: c.VDUID, Name: c.Resource, Addresses: c.Addresses, ConnectionPoints: c.ConnectionPoints, Leaving: slices.Contains(call.Leaving, c.ID),
		})
	}
	return out
}
