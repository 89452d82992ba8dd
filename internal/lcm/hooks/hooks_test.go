package hooks

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// driver is a management driver that takes one parameter and fails.
type driver struct {
	vnfm.ManagementDriver
	params map[string]any
}

var errFailed = errors.New("no route to host")

func (*driver) Params() []string { return []string{"host"} }

func (d *driver) Run(_ context.Context, call *vnfm.HookCall) error {
	d.params = call.Params
	return errFailed
}

func operation(sink bool) *Operation {
	o := &Operation{
		Kind: vnfm.OpScale,
		Flavour: &vnfm.Flavour{Operations: map[string]vnfm.Implementation{
			"scale_end": {Artifact: "setup", Type: vnfm.ArtifactBash}, "heal_end": {Artifact: "setup", Type: vnfm.ArtifactBash}, "scale": {Artifact: "own"},
		}},
	}
	o.Request.Management = map[string]any{"host": "a", "other": "b"}
	if sink {
		o.Request.Sink = &vnfm.CredentialsSink{}
	}
	return o
}

// A sink for credentials has its driver called at every end, and at no start.
func TestDriversAtAHook(t *testing.T) {
	drivers := Drivers{vnfm.ArtifactBash: &driver{}, vnfm.CredentialsSender: &driver{}}
	for _, tt := range []struct {
		sink, end bool
		want      []string
	}{
		{false, false, nil},
		{false, true, []string{vnfm.ArtifactBash}},
		{true, false, nil},
		{true, true, []string{vnfm.ArtifactBash, vnfm.CredentialsSender}},
	} {
		var got []string
		for _, b := range drivers.At(operation(tt.sink), tt.end) {
			got = append(got, b.Name)
			require.Equal(t, "scale_end", b.Hook.Name, "is called at")
		}
		require.Equal(t, tt.want, got, "sink %t, end %t", tt.sink, tt.end)
	}
}

// A driver gets its own parameters. Its error ends the operation, unless that is forceful.
func TestRun(t *testing.T) {
	for _, forceful := range []bool{false, true} {
		d, o := &driver{}, operation(false)
		var left []string
		o.Forceful, o.LeftBehind = forceful, func(object, reason string) { left = append(left, object+": "+reason) }
		err := Run(t.Context(), o, Drivers{vnfm.ArtifactBash: d}.At(o, true), vnfm.HookCall{}, func(string) vnfm.DriverState { return nil })
		if len(d.params) != 1 || d.params["host"] != "a" {
			t.Errorf("parameters: %v", d.params)
		}
		require.NotEqual(t, forceful, errors.Is(err, errFailed), "forceful")
		require.Equal(t, forceful, len(left) == 1, "forceful")
	}
}

// registrar is a driver that registers a VIM.
type registrar struct{ driver }

func (*registrar) RegistersVIM() {}

// Only a hook says whether there will be a VIM.
func TestRegisterVIM(t *testing.T) {
	drivers := Drivers{vnfm.ArtifactBash: &driver{}, vnfm.Kubespray: &registrar{}}
	f := operation(false).Flavour
	require.False(t, drivers.RegisterVIM(f), "a script registers no VIM")
	require.False(t, drivers.RegisterVIM(nil), "a script registers no VIM")
	f.Operations["instantiate_end"] = vnfm.Implementation{Artifact: vnfm.Kubespray}
	require.True(t, drivers.RegisterVIM(f), "kubespray registers a VIM")
}

// All drivers that are not known are reported in one problem, and one whose work the engine does is known.
func TestUnknownDrivers(t *testing.T) {
	f := &vnfm.Flavour{Operations: map[string]vnfm.Implementation{
		"instantiate_end": {Artifact: "own", Type: "tosca.artifacts.Implementation.Python"}, "heal_end": {Artifact: "own"}, "scale_start": {Artifact: "other"},
		"modify_information_end": {Artifact: "mgmt-container-update"}, "terminate_end": {Artifact: "setup", Type: vnfm.ArtifactBash}, "scale": {Artifact: "own"},
	}}
	drivers := Drivers{vnfm.ArtifactBash: &driver{}}
	for policy, severity := range map[vnfm.UnknownDrivers]vnfm.Severity{
		"": vnfm.SeverityError, vnfm.UnknownDriversError: vnfm.SeverityError, vnfm.UnknownDriversSkip: vnfm.SeverityWarning,
	} {
		var problems vnfm.Problems
		drivers.checkUnknown(f, policy, &problems)
		if len(problems) != 1 || problems[0].Severity != severity || !strings.HasSuffix(problems[0].Summary, `: "other" for scale_start; "own" for heal_end, instantiate_end`) {
			t.Errorf("%s: %v", policy, problems)
		}
	}
}
