package lcm_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/charttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// recordingDriver is an infra driver that has objects by the instance that they are of: a workload
// cluster and its add-ons. It says what it did, in order.
type recordingDriver struct {
	driver
	done    []string
	objects map[string]map[string]string
	// broken names an instance whose Apply fails after it made something.
	broken string
}

func (y *recordingDriver) record(format string, args ...any) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.done = append(y.done, fmt.Sprintf(format, args...))
}

// takeCalls returns what was done since it was asked last.
func (y *recordingDriver) takeCalls() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	out := strings.Join(y.done, ", ")
	y.done = nil
	return out
}

func wants(t *vnfm.Target) map[string]string {
	return map[string]string{"v1/ConfigMap " + t.Instance.Name: fmt.Sprint(t.Package.Digest, t.Instance.AdditionalParams["helm_parameters"])}
}

func (y *recordingDriver) Preview(_ context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	if values, _ := t.Instance.AdditionalParams["helm_parameters"].(map[string]any); values["refuse"] != nil {
		return nil, vnfm.Problems{{Attribute: "additional_params", Key: "helm_parameters", Summary: "value refuse is not allowed"}}
	}
	return &vnfm.Preview{Objects: wants(t)}, nil
}

func (y *recordingDriver) Apply(ctx context.Context, t *vnfm.Target, r vnfm.Recorder) error {
	name := t.Instance.Name
	for _, item := range t.Instance.Inventory {
		if item.Name != name {
			return fmt.Errorf("the inventory of %s has %s", name, item.Name)
		}
	}
	if err := r.SaveInventory(ctx, []vnfm.InventoryItem{{Kind: "ConfigMap", Name: name, UID: "1"}}); err != nil {
		return err
	}
	again := ""
	if t.Regenerate != nil {
		again = " again"
	}
	y.record("make %s%s", name, again)
	y.mu.Lock()
	y.objects[t.Instance.ID] = wants(t)
	y.mu.Unlock()
	if len(t.Steps) > 0 {
		if err := tracing.RunSteps(ctx, t, vnfm.AfterWrite); err != nil {
			return err
		}
		y.record("await %s", name)
	}
	if y.broken == name {
		return errors.New("is broken")
	}
	return nil
}

func (y *recordingDriver) Observe(_ context.Context, t *vnfm.Target) (*vnfm.Observation, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	seen := &vnfm.Observation{Objects: maps.Clone(y.objects[t.Instance.ID])}
	if t.Instance.Cluster != nil && len(seen.Objects) > 0 {
		seen.Cluster = &vnfm.ClusterState{}
	}
	return seen, nil
}

func (y *recordingDriver) Terminate(ctx context.Context, t *vnfm.Target, _ vnfm.TerminateSpec, r vnfm.Recorder) error {
	withChart := ""
	if t.Package != nil {
		withChart = " by its chart"
	}
	y.record("remove %s in %q%s", t.Instance.Name, t.Instance.Namespace, withChart)
	y.mu.Lock()
	delete(y.objects, t.Instance.ID)
	y.mu.Unlock()
	return r.SaveInventory(ctx, nil)
}

// newRecordingDriver is a env whose workload clusters have add-ons.
func newRecordingDriver(t *testing.T) (*env, *recordingDriver, *clusters) {
	t.Helper()
	w, c := newClusterEnv(t)
	y := &recordingDriver{objects: map[string]map[string]string{}}
	w.Engine = w.openWith(t, onKubernetes(y))
	return w, y, c
}

// chartAt writes a chart and returns its source.
func chartAt(t *testing.T, dir, version string) vnfm.ChartSource {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "templates"), 0o700))
	for name, text := range map[string]string{
		"Chart.yaml":        "apiVersion: v2\nname: plugin\nversion: " + version + "\n",
		"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: x }\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return vnfm.ChartSource{Path: dir}
}

// TestAddonsAreInstalledBeforeTheClusterIsAwaited follows two add-ons through the life of
// their cluster.
func TestAddonsAreInstalledBeforeTheClusterIsAwaited(t *testing.T) {
	t.Parallel()
	w, y, c := newRecordingDriver(t)
	source := chartAt(t, t.TempDir(), "1.0.0")
	spec := w.clusterSpec()
	spec.Cluster.Addons = map[string]vnfm.Addon{
		"cni": {Source: source, Namespace: "kube-system", After: []string{"ccm"}},
		"ccm": {Source: source, Namespace: "kube-system"},
	}
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	require.Equal(t, "make edge, make ccm, make cni, await edge", y.takeCalls(), "done")
	preview, _, err := w.PreviewInstance(t.Context(), "", spec)
	require.NoError(t, err)
	look := func() map[string]string {
		t.Helper()
		seen, err := w.Observe(t.Context(), i.ID)
		require.NoError(t, err)
		return seen.Objects
	}
	require.Equal(t, preview.Objects, look(), "what is there is not what was planned")
	require.Len(t, preview.Objects, 3, "what is there is not what was planned")
	if _, err := w.Update(t.Context(), i.ID, spec); err != nil || y.takeCalls() != "" {
		t.Errorf("an update without a change: %v", err)
	}

	// Somebody changes one object and deletes all of an add-on.
	for id, objects := range y.objects {
		if objects["v1/ConfigMap cni"] != "" {
			y.objects[id] = map[string]string{"v1/ConfigMap cni": "drifted: data.x"}
		}
		if objects["v1/ConfigMap ccm"] != "" {
			delete(y.objects, id)
		}
	}
	seen := look()
	require.Equal(t, "drifted: v1/ConfigMap cni data.x", seen["add-on: cni"], "the add-on")
	require.NotContains(t, seen, "add-on: ccm", "an add-on that is gone is listed")
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	require.Equal(t, preview.Objects, look(), "after the repair")
	y.takeCalls()

	// A workload API that is away hides the add-ons and nothing else.
	c.number = 0
	away, err := w.Observe(t.Context(), i.ID)
	if err == nil || len(away.Objects) != 1 || !slices.Equal(away.Unseen, []string{"add-on"}) {
		t.Errorf("without a workload API: %+v, %v", away, err)
	}
	// Without the cluster the add-ons are gone as well.
	cluster := y.objects[i.ID]
	y.objects[i.ID] = map[string]string{}
	gone, err := w.Observe(t.Context(), i.ID)
	require.NoError(t, err)
	require.Empty(t, gone.Objects)
	require.ElementsMatch(t, []string{"add-on: ccm", "add-on: cni"}, gone.Gone)
	y.objects[i.ID] = cluster
	c.number = 1

	// One is taken out, the other one changed.
	spec.Cluster.Addons = map[string]vnfm.Addon{"ccm": {Source: source, Namespace: "kube-system", Values: map[string]any{"replicas": 2}}}
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	require.Equal(t, `make edge, remove cni in "kube-system" by its chart, make ccm, await edge`, y.takeCalls(), "done")
	require.Len(t, i.Inventory, 2, "the record has")
	require.Len(t, i.Cluster.Addons, 1, "the record has")

	// A store that was lost finds its objects again: nothing is made a second time.
	lost := newEnv(t)
	lost.clusters = c
	lost.Engine = lost.openWith(t, onKubernetes(y))
	again := spec
	again.VIMID, again.Namespace = lost.vimID, i.Namespace
	if _, err := lost.Update(t.Context(), i.ID, again); err != nil || len(y.objects) != 2 {
		t.Errorf("without its record the cluster has %+v, %v", y.objects, err)
	}
	y.takeCalls()

	// They go with the cluster.
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{Type: vnfm.Graceful}))
	require.Equal(t, `remove edge in "default" by its chart`, y.takeCalls(), "done")
}

// TestAddonThatFailed has one fail in an update: what comes after it is not begun, the
// next update goes on, and one that is taken out in the meantime is removed.
func TestAddonThatFailed(t *testing.T) {
	t.Parallel()
	w, y, _ := newRecordingDriver(t)
	source := chartAt(t, t.TempDir(), "1.0.0")
	spec := w.clusterSpec()
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	y.takeCalls()
	y.broken = "ccm"
	spec.Cluster.Addons = map[string]vnfm.Addon{
		"cni": {Source: source, Namespace: "kube-system", After: []string{"ccm"}},
		"ccm": {Source: source, Namespace: "cloud"},
	}
	_, err = w.Update(t.Context(), i.ID, spec)
	var failed *vnfm.OperationError
	require.ErrorAs(t, err, &failed, "the update")
	require.ErrorContains(t, err, `add-on "ccm": is broken`, "the update")
	require.Equal(t, "make edge, make ccm", y.takeCalls(), "done")
	y.broken = ""
	delete(spec.Cluster.Addons, "ccm")
	spec.Cluster.Addons["cni"] = vnfm.Addon{Source: source, Namespace: "kube-system"}
	i, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	require.Equal(t, `make edge, remove ccm in "cloud" by its chart, make cni, await edge`, y.takeCalls(), "done")
	operations, err := w.Operations(t.Context(), i.ID)
	if err != nil || len(operations) != 2 || operations[1].State != vnfm.StateCompleted {
		t.Errorf("the operations are %+v, %v", operations, err)
	}
}

// TestAddonsThatCannotBe finds what is wrong before anything is made.
func TestAddonsThatCannotBe(t *testing.T) {
	t.Parallel()
	w, y, _ := newRecordingDriver(t)
	source := chartAt(t, t.TempDir(), "1.0.0")
	for name, test := range map[string]struct {
		addons map[string]vnfm.Addon
		want   string
	}{
		"circle":     {map[string]vnfm.Addon{"a": {Source: source, After: []string{"b"}}, "b": {Source: source, After: []string{"a"}}}, "the order of the add-ons is circular"},
		"unknown":    {map[string]vnfm.Addon{"a": {Source: source, After: []string{"b"}}}, `add-on "a" comes after "b", which is not an add-on`},
		"bad name":   {map[string]vnfm.Addon{"A b": {Source: source}}, `"A b" is not a valid add-on name`},
		"bad values": {map[string]vnfm.Addon{"a": {Source: source, Values: map[string]any{"refuse": true}}}, `add-on "a": value refuse is not allowed`},
		"no chart":   {map[string]vnfm.Addon{"a": {Source: vnfm.ChartSource{Path: "/nowhere/chart"}}}, `add-on "a": its chart cannot be read`},
	} {
		spec := w.clusterSpec()
		spec.Cluster.Addons = test.addons
		_, problems, err := w.PreviewInstance(t.Context(), "", spec)
		if err != nil || len(problems) == 0 || problems[0].Summary != test.want || problems[0].Attribute != "addons" || problems[0].Key == "" {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
		if _, err := w.Instantiate(t.Context(), spec); err == nil || y.takeCalls() != "" {
			t.Errorf("%s: the creation: %v", name, err)
		}
	}
}

// TestPausedClusterIsLeftAlone leaves the add-ons of a paused cluster as they are.
func TestPausedClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	w, y, c := newRecordingDriver(t)
	c.number = 0
	spec := w.clusterSpec()
	spec.Cluster.Paused = new(true)
	spec.Cluster.Addons = map[string]vnfm.Addon{"cni": {Source: chartAt(t, t.TempDir(), "1.0.0"), Namespace: "kube-system"}}
	i, err := w.Instantiate(t.Context(), spec)
	require.NoError(t, err)
	require.Equal(t, "make edge", y.takeCalls())
	if seen, err := w.Observe(t.Context(), i.ID); err != nil || len(seen.Objects) != 1 {
		t.Errorf("a paused cluster shows %+v, %v", seen, err)
	}
	c.number, spec.Cluster.Paused = 1, new(false)
	require.NoError(t, second(w.Update(t.Context(), i.ID, spec)))
	require.Equal(t, "make edge, make cni, await edge", y.takeCalls(), "done")
}

// TestChartIsKept has a chart found and kept once, and read no more until it changes.
func TestChartIsKept(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	dir := t.TempDir()
	source := chartAt(t, dir, "1.0.0")
	first, err := w.ResolveChart(t.Context(), source)
	if err != nil || first.Name != "plugin" || first.Version != "1.0.0" || !strings.HasPrefix(first.Digest, "sha256:") {
		t.Fatalf("the chart is %+v, %v", first, err)
	}
	chartAt(t, dir, "1.1.0")
	second, err := w.ResolveChart(t.Context(), source)
	if err != nil || second.Version != "1.1.0" || second.Digest == first.Digest {
		t.Fatalf("the changed chart is %+v, %v", second, err)
	}
	require.NoError(t, os.RemoveAll(dir))
	source.Chart = first
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if again, err := w.open(t).ResolveChart(t.Context(), source); err != nil || *again != *first {
				t.Errorf("the chart that is kept is %+v, %v", again, err)
			}
		})
	}
	wait.Wait()
}

// TestRangeIsFoundOnce has a plan and its apply, which is another process, mean the same
// chart by a range of versions, whatever is published between them.
func TestRangeIsFoundOnce(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	repository := charttest.Repository(t, charttest.Chart{Name: "plugin", Version: "1.0.0"})
	source := vnfm.ChartSource{Repository: repository.URL, Name: "plugin", Version: "^1", Access: &vnfm.ChartAccess{
		Username: charttest.Username, Password: charttest.Password, CACertificate: repository.CA,
	}}
	first, err := w.ResolveChart(t.Context(), source)
	require.NoError(t, err, "the chart")
	require.Equal(t, "1.0.0", first.Version, "the chart")
	asked := repository.Requests.Load()
	again, err := w.open(t).ResolveChart(t.Context(), source)
	if err != nil || *again != *first || repository.Requests.Load() != asked {
		t.Errorf("the apply finds %+v with %d requests more, %v", again, repository.Requests.Load()-asked, err)
	}
	source.Version = "1.0.0"
	if _, err := w.ResolveChart(t.Context(), source); err != nil || repository.Requests.Load() == asked {
		t.Errorf("another source is not asked for: %v", err)
	}
}

// TestAddonRegenerates: results of random functions of an add-on are made again once for each
// trigger, and for that of a new add-on not at all; those of a paused cluster wait.
func TestAddonRegenerates(t *testing.T) {
	t.Parallel()
	w, y, _ := newRecordingDriver(t)
	source := chartAt(t, t.TempDir(), "1.0.0")
	spec := w.clusterSpec()
	with := func(trigger string, paused bool) vnfm.InstanceSpec {
		s, cluster := spec, *spec.Cluster
		cluster.Paused = &paused
		cluster.Addons = map[string]vnfm.Addon{
			"ccm": {Source: source, Namespace: "kube-system"},
			"cni": {Source: source, Namespace: "kube-system", After: []string{"ccm"}, Regenerate: &vnfm.RegenerateSpec{Trigger: trigger}},
		}
		s.Cluster = &cluster
		return s
	}
	i, err := w.Instantiate(t.Context(), with("1", false))
	require.NoError(t, err)
	require.Equal(t, "make edge, make ccm, make cni, await edge", y.takeCalls())
	for _, step := range []struct {
		trigger string
		paused  bool
		want    string
	}{
		{"1", false, ""}, {"2", false, "make edge, make ccm, make cni again, await edge"}, {"2", false, ""},
		{"3", true, "make edge"}, {"3", true, ""}, {"3", false, "make edge, make ccm, make cni again, await edge"},
	} {
		_, err := w.Update(t.Context(), i.ID, with(step.trigger, step.paused))
		require.NoError(t, err)
		require.Equal(t, step.want, y.takeCalls(), "%+v", step)
	}
}
