package lcm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// sender is a management driver that notes its calls, and in the record what it was
// sent like the real one.
type sender struct {
	calls []string
	fail  error
}

func (s *sender) Params() []string { return nil }

func (s *sender) Check(c *vnfm.HookCheck) vnfm.Problems {
	if c.Request.Sink != nil {
		return nil
	}
	return vnfm.Problems{{Attribute: "credentials_sink", Summary: "a sink is missing"}}
}

func (s *sender) Run(ctx context.Context, call *vnfm.HookCall) error {
	line := fmt.Sprintf("%s end=%t", call.Operation, call.End)
	if call.Instance.Cluster != nil && call.End {
		k, err := call.Kubeconfig(ctx, vnfm.ClusterRef{VIMID: call.Instance.VIMID})
		if err != nil {
			return err
		}
		line += " " + k.Raw.Reveal()
	}
	s.calls = append(s.calls, line)
	if s.fail != nil {
		return s.fail
	}
	if call.Request.Sink != nil && call.End {
		call.Instance.Deliveries = map[string]vnfm.Delivery{"edge": {URL: call.Request.Sink.URL, Digest: line}}
	}
	return nil
}

// A sink gets what there is after each operation; a failure is that of the operation
// and is tried again by the next update.
func TestSinkOfAWorkloadCluster(t *testing.T) {
	w, c := newClusterEnv(t)
	s := &sender{}
	w.management = map[string]vnfm.ManagementDriver{vnfm.CredentialsSender: s}
	w.Engine = w.open(t)
	spec := w.clusterSpec()
	spec.Sink = &vnfm.CredentialsSink{URL: "https://one.example.org"}
	s.fail = errBroken
	_, err := w.Instantiate(t.Context(), spec)
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance == nil || failed.Instance.Status != vnfm.StatusFailedTemp ||
		!strings.Contains(err.Error(), `management driver "mgmt-drivers-credentials-sender" at hook instantiate_end`) {
		t.Fatalf("a creation whose credentials are refused: %v", err)
	}
	id := failed.Instance.ID
	s.fail = nil
	update := func() *vnfm.Instance {
		t.Helper()
		i := w.mustUpdate(t, id, spec)
		return i
	}
	require.Equal(t, vnfm.StatusInstantiated, update().Status, "resumed")
	update()
	spec.RotationTrigger = "leaked"
	update()
	spec.Sink = &vnfm.CredentialsSink{URL: "https://two.example.org"}
	update()
	update()
	require.Equal(t, 2, c.number, "the number of the kubeconfig")
	want := []string{
		"INSTANTIATE end=true kubeconfig 1", "INSTANTIATE end=true kubeconfig 1", "HEAL end=true kubeconfig 2", "MODIFY_INFO end=true kubeconfig 2",
	}
	require.Equal(t, want, s.calls, "calls")
}

// The hooks of a VNFD run their drivers, before and after; one that nobody knows is an
// error of the plan, and so is what its driver lacks.
func TestHooksOfAVNFD(t *testing.T) {
	w := newEnv(t)
	s := &sender{}
	w.driver.taken = []string{}
	w.management = map[string]vnfm.ManagementDriver{vnfm.CredentialsSender: s}
	w.Engine = w.open(t)
	withDriver := func(version, driver string) vnfm.InstanceSpec {
		spec := w.spec()
		spec.PackageID = w.onboardHooked(t, version, driver).ID
		return spec
	}
	for want, spec := range map[string]vnfm.InstanceSpec{
		`the VNFD names management drivers that are not known: "mgmt-drivers-ansible" for instantiate_end, terminate_start`: withDriver("2.0", "mgmt-drivers-ansible"),
		"a sink is missing": withDriver("3.0", vnfm.CredentialsSender),
	} {
		_, problems, err := w.PreviewInstance(t.Context(), "", spec)
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(problems.Err()), want)
		require.ErrorContains(t, second(w.Instantiate(t.Context(), spec)), want)
	}
	// Hooks of unknown drivers are skipped on request, with a warning; one of Tacker's whose work the engine does is known.
	for driver, warnings := range map[string]int{"mgmt-drivers-ansible": 2, "mgmt-container-update": 0} {
		spec := withDriver("2."+strconv.Itoa(warnings+1), driver)
		spec.Name = driver
		if warnings > 0 {
			spec.UnknownDrivers, spec.AdditionalParams = vnfm.UnknownDriversSkip, map[string]any{"playbook_url": "https://example.org"}
		}
		_, problems, err := w.PreviewInstance(t.Context(), "", spec)
		require.NoError(t, err)
		require.False(t, problems.HasErrors(), problems)
		require.Len(t, problems, warnings)
		i := w.mustInstantiate(t, spec)
		require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	}
	require.Empty(t, s.calls)
	spec := withDriver("3.0", vnfm.CredentialsSender)
	spec.Sink = &vnfm.CredentialsSink{URL: "https://one.example.org"}
	i := w.mustInstantiate(t, spec)
	// The record alone is enough for what asks nothing of a sink.
	require.NoError(t, second(w.Observe(t.Context(), i.ID)))
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	require.Equal(t, []string{"INSTANTIATE end=true", "TERMINATE end=false"}, s.calls, "calls")
}

// onboardHooked onboards a version of the test's package with hooks.
func (w *env) onboardHooked(t *testing.T, version, driver string) *vnfm.Package {
	t.Helper()
	dir := filepath.Join(w.sources, version)
	writePackage(t, dir, version)
	addHooks(t, dir, driver)
	return onboardAs(t, w.Engine, "test", dir)
}

func addHooks(t *testing.T, dir, driver string) {
	t.Helper()
	path := filepath.Join(dir, "Definitions", "vnfd.yaml")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	const before = "    VDU1:\n"
	hooks := "      interfaces:\n        Vnflcm:\n          type: tosca.interfaces.nfv.Vnflcm\n          instantiate: []\n          instantiate_end: {implementation: " + driver +
		"}\n          terminate_start: {implementation: " + driver + "}\n          heal_end: []\n"
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), before, hooks+before, 1)), 0o600))
}
