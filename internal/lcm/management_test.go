package lcm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// worker is a management driver that notes what it is called with and keeps a state.
type worker struct {
	calls []string
	// seen are the parameters of the last call.
	seen map[string]any
	// fail, when set, is asked at each call by its hook, after the work.
	fail func(hook string) error
	// once counts how often the step ran that is done once.
	once int
	// pin are names of hosts whose keys are pinned at each call, and pinned the VNFCs whose keys the last call found.
	pin, pinned []string
}

func (*worker) Params() []string { return []string{"site"} }

func (*worker) Check(c *vnfm.HookCheck) vnfm.Problems {
	site, _ := c.Params["site"].(map[string]any)
	if site["password"] == nil && !c.Later {
		return vnfm.Problems{{Attribute: "additional_params", Key: "site", Summary: "the password is missing"}}
	}
	return nil
}

func (d *worker) Run(ctx context.Context, call *vnfm.HookCall) error {
	line := fmt.Sprintf("%s %s", call.Operation, call.Hook.Name)
	if len(call.Leaving) > 0 {
		line += " leaving " + strings.Join(call.Leaving, ",")
	}
	d.calls, d.seen = append(d.calls, line), call.Params
	state := map[string]int{}
	if err := call.State.Load(&state); err != nil {
		return err
	}
	state[call.Hook.Name]++
	if err := call.State.Save(ctx, state); err != nil {
		return err
	}
	if call.HostKeys.Pinned("one") == "" {
		if err := call.HostKeys.Pin(ctx, "one", "ssh-ed25519 AAAA"); err != nil {
			return err
		}
	}
	d.pinned = nil
	for _, name := range d.pin {
		if call.HostKeys.Pinned(name) != "" {
			d.pinned = append(d.pinned, strings.TrimPrefix(name, "vnfc/"))
		}
		if err := call.HostKeys.Pin(ctx, name, "ssh-ed25519 AAAA"); err != nil {
			return err
		}
	}
	if err := call.Once(ctx, "step", func(context.Context) error { d.once++; return nil }); err != nil {
		return err
	}
	if d.fail != nil {
		return d.fail(call.Hook.Name)
	}
	return nil
}

func (d *worker) taken() []string {
	calls := d.calls
	d.calls = nil
	return calls
}

func newWorkerEnv(t *testing.T) (*env, *worker, vnfm.InstanceSpec) {
	t.Helper()
	w, d := newEnv(t), &worker{}
	w.manage(t, d)
	dir := filepath.Join(w.sources, "worked")
	writePackage(t, dir, "4.0")
	path := filepath.Join(dir, "Definitions", "vnfd.yaml")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	hooks := "      artifacts:\n        setup: {type: " + vnfm.ArtifactBash + ", file: Scripts/setup.sh}\n      interfaces:\n        Vnflcm:\n          type: tosca.interfaces.nfv.Vnflcm\n"
	for _, hook := range []string{"instantiate_end", "scale_start", "scale_end", "heal_start", "heal_end", "terminate_start", "terminate_end"} {
		hooks += "          " + hook + ": {implementation: setup}\n"
	}
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), "    VDU1:\n", hooks+"    VDU1:\n", 1)), 0o600))
	spec := w.spec()
	spec.PackageID = onboardAs(t, w.Engine, "test", dir).ID
	spec.AdditionalParams = map[string]any{"namespace": "far", "site": map[string]any{"username": "root"}}
	spec.SecretParams = map[string]any{"site": map[string]any{"password": "planted-secret"}}
	return w, d, spec
}

// manage has a driver work at the hooks of packages.
func (w *env) manage(t *testing.T, d vnfm.ManagementDriver) {
	t.Helper()
	w.management = map[string]vnfm.ManagementDriver{vnfm.ArtifactBash: d}
	w.Engine = w.open(t)
}

func same(t *testing.T, what string, got any, want any) {
	t.Helper()
	require.Equal(t, want, got, what)
}

// A driver is chosen by the type of the artifact, gets the VNFCs that leave, its own
// parameters with the secret ones over them, and keeps a state; the record has none of its
// parameters, and the infra driver sees none.
func TestManagementDriver(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	i := w.mustInstantiate(t, spec)
	same(t, "at creation", d.taken(), []string{"INSTANTIATE instantiate_end"})
	same(t, "parameters", d.seen, map[string]any{"site": map[string]any{"username": "root", "password": "planted-secret"}})
	same(t, "recorded parameters", i.AdditionalParams, map[string]any{"namespace": "far"})
	same(t, "host keys", i.HostKeys, map[string]string{"one": "ssh-ed25519 AAAA"})

	w.mustUpdate(t, i.ID, spec)
	same(t, "without a change", d.taken(), []string(nil))

	spec.SecretParams = map[string]any{"site": map[string]any{"password": "another-secret"}}
	w.mustUpdate(t, i.ID, spec)
	same(t, "with another secret", d.taken(), []string{"MODIFY_INFO modify_information_end"})
	same(t, "the secret", d.seen["site"].(map[string]any)["password"], any("another-secret")) //nolint:forcetypeassert // a test

	w.driver.vnfcs = []string{"VDU1-1", "VDU1-2", "VDU1-3"}
	spec.ScaleLevels = map[string]int{"workers": 1}
	w.mustUpdate(t, i.ID, spec)
	same(t, "at a scale", d.taken(), []string{"SCALE scale_start leaving VDU1-3", "SCALE scale_end leaving VDU1-3"})
	w.driver.vnfcs = []string{"VDU1-1", "VDU1-2"}

	spec.Heal = &vnfm.HealSpec{Trigger: "one", VNFCIDs: []string{"VDU1-2"}}
	w.mustUpdate(t, i.ID, spec)
	same(t, "at a heal", d.taken(), []string{"HEAL heal_start leaving VDU1-2", "HEAL heal_end leaving VDU1-2"})

	// The end has no request: the parameters come from the store.
	require.NoError(t, w.open(t).Terminate(t.Context(), i.ID, vnfm.TerminateSpec{}))
	same(t, "at the end", d.taken(), []string{"TERMINATE terminate_start", "TERMINATE terminate_end"})
	same(t, "the secret at the end", d.seen["site"].(map[string]any)["password"], any("another-secret")) //nolint:forcetypeassert // a test

	notIn(t, w.dir, "planted-secret", "another-secret")
}

// An operation whose last hook has failed is continued at that hook, and nothing else of it is done again.
func TestEndHookIsContinued(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	d.taken()
	d.once = 0
	var during *vnfm.Instance
	d.fail = func(hook string) error {
		if hook == "scale_end" {
			// The record that a plan would find if the process were killed here.
			during, err = w.Instance(t.Context(), i.ID)
			return errors.Join(errBroken, err)
		}
		return nil
	}
	spec.ScaleLevels = map[string]int{"workers": 2}
	_, err = w.Update(t.Context(), i.ID, spec)
	same(t, "status at the last hook", during.Status, vnfm.StatusProcessing)
	var failed *vnfm.OperationError
	if !errors.As(err, &failed) || failed.Instance.Status != vnfm.StatusFailedTemp || !strings.Contains(err.Error(), `management driver "tosca.artifacts.Implementation.Bash" at hook scale_end`) {
		t.Fatalf("got %v", err)
	}
	same(t, "levels after the failure", failed.Instance.ScaleLevels, map[string]int{"workers": 2})
	same(t, "calls", d.taken(), []string{"SCALE scale_start", "SCALE scale_end"})
	w.driver.calls = nil
	d.fail = nil
	i = w.mustUpdate(t, i.ID, spec)
	same(t, "status", i.Status, vnfm.StatusInstantiated)
	same(t, "continued", d.taken(), []string{"SCALE scale_end"})
	require.NotContains(t, w.driver.calls, "scale", "the VIM was asked again")
	require.NotContains(t, w.driver.calls, "apply", "the VIM was asked again")
	same(t, "steps that are done once", d.once, 2)
	same(t, "operations", w.operations(t, i.ID), []string{"INSTANTIATE COMPLETED", "SCALE COMPLETED"})
}

// The same for parameters that were changed, and for a creation.
func TestChangedParamsAreContinued(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	d.fail = func(string) error { return errBroken }
	_, err := w.Instantiate(t.Context(), spec)
	var failed *vnfm.OperationError
	require.ErrorAs(t, err, &failed)
	require.NotNil(t, failed.Instance)
	id := failed.Instance.ID
	d.fail = nil
	w.mustUpdate(t, id, spec)
	same(t, "creation", d.taken(), []string{"INSTANTIATE instantiate_end", "INSTANTIATE instantiate_end"})
	d.fail = func(string) error { return errBroken }
	spec.AdditionalParams = map[string]any{"namespace": "far", "site": map[string]any{"username": "admin"}}
	require.ErrorAs(t, second(w.Update(t.Context(), id, spec)), &failed)
	d.fail = nil
	i := w.mustUpdate(t, id, spec)
	same(t, "status", i.Status, vnfm.StatusInstantiated)
	same(t, "change", d.taken(), []string{"MODIFY_INFO modify_information_end", "MODIFY_INFO modify_information_end"})
	same(t, "operations", w.operations(t, id), []string{"INSTANTIATE COMPLETED", "MODIFY_INFO COMPLETED"})

	// A driver may have done half of a change that is taken back: it works with what was before.
	before := spec.AdditionalParams
	d.fail = func(string) error { return errBroken }
	spec.AdditionalParams = map[string]any{"namespace": "far", "site": map[string]any{"username": "other"}}
	require.ErrorAs(t, second(w.Update(t.Context(), id, spec)), &failed)
	d.fail = nil
	spec.AdditionalParams = before
	i = w.mustUpdate(t, id, spec)
	same(t, "status", i.Status, vnfm.StatusInstantiated)
	same(t, "change that is taken back", d.taken(), []string{"MODIFY_INFO modify_information_end", "MODIFY_INFO modify_information_end"})
	same(t, "parameters", d.seen["site"].(map[string]any)["username"], any("admin")) //nolint:forcetypeassert // a test
}

// A forceful termination goes on when a driver fails, and tells of it; a graceful one
// does not.
func TestForcefulTerminationGoesOn(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	d.fail = func(string) error { return errBroken }
	require.ErrorIs(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{Type: vnfm.Graceful}), errBroken)
	var left []string
	err = w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{Type: vnfm.Forceful, LeftBehind: func(object, reason string) { left = append(left, object+": "+reason) }})
	if err != nil || len(left) != 2 || !strings.Contains(left[0], "terminate_start") {
		t.Errorf("got %v, left %q", err, left)
	}
}

// A rollback removes objects of a creation outside of the VIM, too.
func TestRolledBackCreationRunsTheEnd(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	spec.OnFailure = vnfm.OnFailureRollback
	d.fail = func(hook string) error {
		if hook == "instantiate_end" {
			return errBroken
		}
		return nil
	}
	if _, err := w.Instantiate(t.Context(), spec); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "has been removed") {
		t.Fatalf("got %v", err)
	}
	same(t, "calls", d.taken(), []string{"INSTANTIATE instantiate_end", "TERMINATE terminate_start", "TERMINATE terminate_end"})
}

// The plan finds wrong parameters.
func TestParamsAreCheckedAtPlan(t *testing.T) {
	w, _, spec := newWorkerEnv(t)
	check := func(what string, secrets map[string]any, later bool, want ...string) {
		t.Helper()
		s := spec
		s.SecretParams, s.SecretsLater = secrets, later
		_, problems, err := w.PreviewInstance(t.Context(), "", s)
		require.NoError(t, err)
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%s[%s]: %s", p.Attribute, p.Key, p.Summary))
		}
		same(t, what, got, want)
	}
	check("whole", spec.SecretParams, false)
	check("missing", nil, false, "additional_params[site]: the password is missing")
	check("known later", nil, true)
	// Parameters that are known only later do not affect the objects.
	later := spec
	later.AdditionalParams, later.ParamsLater = map[string]any{"site": map[string]any{"username": nil}}, []string{"site"}
	later.SecretParams = nil
	if preview, problems, err := w.PreviewInstance(t.Context(), "", later); err != nil || len(problems) > 0 || preview == nil {
		t.Errorf("with a parameter that is known later: %v, %v, %v", preview, problems, err)
	}
	later.AdditionalParams["namespace"], later.ParamsLater = nil, []string{"namespace"}
	later.SecretParams = map[string]any{"site": "no map"}
	if preview, problems, err := w.PreviewInstance(t.Context(), "", later); err != nil || len(problems) > 0 || preview != nil {
		t.Errorf("with a parameter of the infra driver that is known later: %v, %v, %v", preview, problems, err)
	}
	spec.AdditionalParams = map[string]any{"site": map[string]any{"password": "planted-secret", "nodes": []any{map[string]any{"ssh_password": "x"}}}}
	check("in clear", nil, false, "additional_params[]: additional_params shows secrets: site.nodes[0].ssh_password, site.password")
}

// nodeKeeper is a worker that keeps the VNFCs of the VDU as the nodes of a cluster.
type nodeKeeper struct{ *worker }

func (nodeKeeper) NodeVDUs(*vnfm.HookCheck) []string { return []string{"VDU1"} }

func (nodeKeeper) Rounds(_ *vnfm.HookCheck, replaced []vnfm.Replacement) [][]string {
	var out [][]string
	for _, r := range replaced {
		out = append(out, []string{r.VNFC})
	}
	return out
}

// A driver that keeps nodes is called around a change of level and of package, which the VNFD names no hook for.
func TestNodeKeeper(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	w.manage(t, nodeKeeper{d})
	i := w.mustInstantiate(t, spec)
	d.taken()
	spec.LevelID = "large"
	_, problems, err := w.PreviewInstance(t.Context(), i.ID, spec)
	require.NoError(t, err)
	require.NoError(t, problems.Err())
	w.mustUpdate(t, i.ID, spec)
	same(t, "at a new level", d.taken(), []string{"SCALE_TO_LEVEL scale_to_level_start", "SCALE_TO_LEVEL scale_to_level_end"})
	spec.AdditionalParams = map[string]any{"namespace": "far", "greeting": "hello", "site": spec.AdditionalParams["site"]}
	w.mustUpdate(t, i.ID, spec)
	same(t, "at other parameters", d.taken(), []string{"CHANGE_VNFPKG change_current_package_start", "CHANGE_VNFPKG change_current_package_end"})
}

// VNFCs that a change of the package replaces leave one after the other, and join again before the next one goes. A round that fails
// is done again, and those before it are not. The keys of their hosts are others afterwards.
func TestReplacedInTurn(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	w.manage(t, nodeKeeper{d})
	i := w.mustInstantiate(t, spec)
	w.driver.vnfcs = []string{"VDU1-1"}
	w.driver.replacing = []vnfm.Replacement{{VNFC: "VDU1-2"}, {VNFC: "VDU1-1"}, {VNFC: "VDU1-3"}}
	d.taken()
	w.driver.held = nil

	fail := true
	d.pin = []string{vnfm.HostKeyName("VDU1-1"), vnfm.HostKeyName("VDU1-2"), vnfm.HostKeyName("VDU1-9")}
	var met []string
	d.fail = func(hook string) error {
		met = append(met, strings.Join(d.pinned, ","))
		if fail && hook == "change_current_package_end" && len(d.calls) == 4 {
			return errors.New("node VDU1-2 does not join")
		}
		return nil
	}
	spec.AdditionalParams = map[string]any{"namespace": "far", "greeting": "hello", "site": spec.AdditionalParams["site"]}
	_, err := w.Update(t.Context(), i.ID, spec)
	require.ErrorContains(t, err, "node VDU1-2 does not join")
	start, end := "CHANGE_VNFPKG change_current_package_start leaving ", "CHANGE_VNFPKG change_current_package_end leaving "
	same(t, "up to the failure", d.taken(), []string{start + "VDU1-1", end + "VDU1-1", start + "VDU1-2", end + "VDU1-2"})
	same(t, "left as they are", w.driver.held, [][]string{{"VDU1-2", "VDU1-3"}, {"VDU1-3"}})

	fail, w.driver.held = false, nil
	w.mustUpdate(t, i.ID, spec)
	same(t, "after the failure", d.taken(), []string{start + "VDU1-2", end + "VDU1-2", start + "VDU1-3", end + "VDU1-3"})
	same(t, "left as they are", w.driver.held, [][]string{{"VDU1-3"}, nil})
	same(t, "keys that the drivers found", met, []string{
		"", "VDU1-2,VDU1-9", "VDU1-1,VDU1-2,VDU1-9", "VDU1-1,VDU1-9", "VDU1-1,VDU1-2,VDU1-9", "VDU1-1,VDU1-9", "VDU1-1,VDU1-2,VDU1-9", "VDU1-1,VDU1-2,VDU1-9",
	})

	// Another target begins with rounds of its own, and one without a replacement has none.
	w.driver.replacing, w.driver.held = nil, nil
	spec.AdditionalParams = map[string]any{"namespace": "far", "site": spec.AdditionalParams["site"]}
	w.mustUpdate(t, i.ID, spec)
	same(t, "without a replacement", d.taken(), []string{strings.TrimSuffix(start, " leaving "), strings.TrimSuffix(end, " leaving ")})
}

// A change of the package that is rolled back replaces VNFCs once more, in turn as well.
func TestReplacedInTurn_rollback(t *testing.T) {
	w, d, spec := newWorkerEnv(t)
	w.manage(t, nodeKeeper{d})
	spec.OnFailure = vnfm.OnFailureRollback
	i := w.mustInstantiate(t, spec)
	w.driver.vnfcs = []string{"VDU1-1"}
	w.driver.replacing = []vnfm.Replacement{{VNFC: "VDU1-1"}, {VNFC: "VDU1-2"}}
	d.taken()
	d.fail = func(hook string) error {
		if hook == "change_current_package_end" && len(d.calls) == 2 {
			return errors.New("node VDU1-1 does not join")
		}
		return nil
	}
	spec.AdditionalParams = map[string]any{"namespace": "far", "greeting": "hello", "site": spec.AdditionalParams["site"]}
	_, err := w.Update(t.Context(), i.ID, spec)
	require.ErrorContains(t, err, "node VDU1-1 does not join")
	start, end := "CHANGE_VNFPKG change_current_package_start leaving ", "CHANGE_VNFPKG change_current_package_end leaving "
	same(t, "forth and back", d.taken(), []string{start + "VDU1-1", end + "VDU1-1", start + "VDU1-1", end + "VDU1-1", start + "VDU1-2", end + "VDU1-2"})
	now, err := w.Instance(t.Context(), i.ID)
	require.NoError(t, err)
	same(t, "status", now.Status, vnfm.StatusInstantiated)
}

// waiter is a management driver that waits until the store has what it said last.
type waiter struct {
	worker
	stored func(ctx context.Context) string
}

func (d *waiter) Run(ctx context.Context, call *vnfm.HookCall) error {
	for _, line := range []string{"one", "two", "the last one for long"} {
		call.Recorder.Progress(ctx, line)
	}
	for range 100 {
		if d.stored(ctx) == "the last one for long" {
			return nil
		}
		if err := poll.Sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("the store has the progress %q", d.stored(ctx))
}

// TestLastProgressIsStored: who looks at an operation from elsewhere sees what it waits for.
func TestLastProgressIsStored(t *testing.T) {
	t.Parallel()
	w, _, spec := newWorkerEnv(t)
	other := w.open(t)
	w.management = map[string]vnfm.ManagementDriver{vnfm.ArtifactBash: &waiter{stored: func(ctx context.Context) string {
		occs, err := other.Operations(ctx, "")
		if err != nil || len(occs) == 0 {
			return fmt.Sprint(occs, err)
		}
		return occs[len(occs)-1].Progress
	}}}
	_, err := w.open(t).Instantiate(t.Context(), spec)
	require.NoError(t, err)
}
