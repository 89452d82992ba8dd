package operations

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// world is a store with two instances and their operations.
type world struct {
	*testing.T
	path  string
	store store.Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, path: filepath.Join(t.TempDir(), "store.db")}
	s, err := sqlite.Open(t.Context(), w.path, "test")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	w.store = s
	w.create(store.KindInstance, "i-core", vnfm.Instance{ID: "i-core", Name: "core"})
	w.create(store.KindInstance, "i-edge", vnfm.Instance{ID: "i-edge", Name: "edge"})
	start := time.Date(2026, 11, 26, 8, 0, 0, 0, time.UTC)
	for i, op := range []vnfm.Operation{
		{ID: "aaaa1111", InstanceID: "i-core", Type: vnfm.OpInstantiate, State: vnfm.StateCompleted, Attempts: 1},
		{ID: "aaaa2222", InstanceID: "i-edge", Type: vnfm.OpHeal, State: vnfm.StateFailed, Error: "no such VDU\nthe VDUs are web", Attempts: 2},
		{ID: "bbbb3333", InstanceID: "i-core", Type: vnfm.OpScale, State: vnfm.StateProcessing, Progress: "3/5 done", Attempts: 1, Parameters: map[string]any{"aspect": "web"}},
	} {
		op.StartedAt = start.Add(time.Duration(i) * time.Minute)
		op.StateEnteredAt = op.StartedAt.Add(5 * time.Second)
		w.create(store.KindOperation, op.ID, op)
	}
	return w
}

func (w *world) create(kind store.Kind, id string, value any) {
	w.Helper()
	data, err := json.Marshal(value)
	require.NoError(w, err)
	require.NoError(w, w.store.Create(w.Context(), &store.Record{Kind: kind, ID: id, Data: data}))
}

// enter brings an operation into a state.
func (w *world) enter(id string, state vnfm.OperationState) {
	w.Helper()
	r, err := w.store.Get(w.Context(), store.KindOperation, id)
	require.NoError(w, err)
	r.Data = bytes.Replace(r.Data, []byte(vnfm.StateProcessing), []byte(state), 1)
	require.NoError(w, w.store.Update(w.Context(), r))
}

// run runs a command and wants an exit code and parts of what it says.
func (w *world) run(code int, args []string, parts ...string) string {
	w.Helper()
	var out bytes.Buffer
	root := &cobra.Command{Use: "terraform-provider-vnf", Args: cli.NoArguments}
	root.AddCommand(Command("v1.2.3"))
	args = append([]string{"operations", "--store", w.path}, args...)
	if got := cli.Run(w.Context(), root, args, &out, &out); got != code {
		w.Errorf("%v: exit code %d, want %d\n%s", args, got, code, out.String())
	}
	for _, part := range parts {
		if !strings.Contains(out.String(), part) {
			w.Errorf("%v does not say %q:\n%s", args, part, out.String())
		}
	}
	return out.String()
}

func TestListAndShow(t *testing.T) {
	w := newWorld(t)
	w.run(0, []string{"list"}, "aaaa1111  core      INSTANTIATE  COMPLETED   2026-11-26 08:00:00", "no such VDU", "no process runs it", "3/5 done")
	if out := w.run(0, []string{"list", "--last", "1"}); strings.Contains(out, "aaaa1111") || !strings.Contains(out, "bbbb3333") {
		t.Errorf("the last operation:\n%s", out)
	}
	var all []entry
	require.NoError(t, json.Unmarshal([]byte(w.run(0, []string{"list", "--output", "json"})), &all))
	if len(all) != 3 || all[1].Error != "no such VDU\nthe VDUs are web" || all[2].Instance != "core" {
		t.Errorf("as JSON: %+v", all)
	}
	w.run(0, []string{"show", "edge"}, "aaaa2222", "HEAL", "FAILED since 2026-11-26 08:01:05", "no such VDU", "the VDUs are web")
	w.run(0, []string{"show", "core"}, "bbbb3333", "aspect", `"web"`)
	w.run(0, []string{"show", "aaaa1"}, "INSTANTIATE")
	for name, test := range map[string]struct{ args, want []string }{
		"nothing":    {[]string{"show", "nowhere"}, []string{`no operation and no instance "nowhere"`}},
		"two":        {[]string{"show", "aaaa"}, []string{"several operations", `"aaaa1111", "aaaa2222"`}},
		"empty name": {[]string{"cancel", ""}, []string{"argument 1 of", "cancel is empty"}},
		"no name":    {[]string{"watch"}, []string{"takes OPERATION"}},
		"no number":  {[]string{"list", "--last", "0"}, []string{"--last is 0"}},
		"no command": {[]string{"stop"}, []string{`no command or argument "stop"`}},
		"no store":   {[]string{"list", "--store", "/no/store.db"}, []string{"no local store at /no/store.db"}},
	} {
		t.Run(name, func(t *testing.T) { (&world{T: t, path: w.path}).run(cli.ExitUsage, test.args, test.want...) })
	}
}

// TestReport writes what a failed operation has left, and what there is of one that has left nothing.
func TestReport(t *testing.T) {
	w := newWorld(t)
	at := time.Date(2026, 11, 26, 8, 1, 5, 0, time.UTC)
	w.create(store.KindReport, "aaaa2222", vnfm.Report{
		Operation: vnfm.Operation{
			ID: "aaaa2222", InstanceID: "i-edge", Type: vnfm.OpHeal, State: vnfm.StateProcessing, StartedAt: at.Add(-5 * time.Second),
			Parameters: map[string]any{"vnfcs": "web-1"},
		},
		Instance: "edge", Runner: "ci on host runner", TakenAt: at, Error: "pod web-1 is Pending", Cut: true,
		Timeline: []vnfm.ReportLine{{At: at.Add(-2 * time.Second), Text: "heal"}},
		Sections: []vnfm.ReportSection{{Title: "Objects on VIM \"edge\"", Text: "a log with ``` inside\n"}},
	})
	out := w.run(0, []string{"show", "--report", "edge"}, "# HEAL of edge: FAILED\n", "* failed: 2026-11-26T08:01:05Z", "* run by: ci on host runner",
		"* now: FAILED since", "left out for its size", "## Error\n\n```text\npod web-1 is Pending\n```", "## Parameters", `"vnfcs": "web-1"`,
		"08:01:03        3s  heal", "## Objects on VIM \"edge\"\n\n````text\na log with ``` inside\n````\n")
	name := filepath.Join(t.TempDir(), "report.md")
	require.NoError(t, os.WriteFile(name, []byte(strings.Repeat("old", 1000)), 0o644))
	w.run(0, []string{"show", "--report", "--file", name, "edge"}, "wrote "+name)
	written, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, out, string(written))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	w.run(0, []string{"show", "--report", "core"}, "# SCALE of core: PROCESSING", "No process has recorded more", "3/5 done")
	w.run(cli.ExitUsage, []string{"show", "--report", "-o", "json", "edge"}, "leave out --output json")
	w.run(cli.ExitUsage, []string{"show", "--file", name, "edge"}, "--file is for --report")
}

func TestWatch(t *testing.T) {
	w := newWorld(t)
	// What has ended is not getting older, and an instance that is gone has a name.
	w.run(0, []string{"watch", "aaaa1111"}, "INSTANTIATE of core: COMPLETED after 5s")
	w.create(store.KindOperation, "cccc4444", vnfm.Operation{ID: "cccc4444", InstanceID: "i-gone", Instance: "gone", Type: vnfm.OpTerminate, State: vnfm.StateCompleted,
		StartedAt: time.Date(2026, 11, 26, 9, 0, 0, 0, time.UTC), StateEnteredAt: time.Date(2026, 11, 26, 9, 1, 30, 0, time.UTC)})
	w.run(0, []string{"watch", "gone"}, "TERMINATE of gone: COMPLETED after 1m30s")
	w.run(cli.ExitFailure, []string{"watch", "edge"}, "no such VDU", "HEAL of edge is FAILED")
	w.run(cli.ExitFailure, []string{"watch", "core"}, "no process runs it", "SCALE of core is PROCESSING")
	lease, err := w.store.Acquire(t.Context(), "instance/i-core", process.Name())
	require.NoError(t, err)
	time.AfterFunc(300*time.Millisecond, func() { w.enter("bbbb3333", vnfm.StateCompleted) })
	w.run(0, []string{"watch", "core"}, "PROCESSING", "3/5 done", "COMPLETED")
	require.NoError(t, lease.Release(t.Context()))
}

func TestCancel(t *testing.T) {
	w := newWorld(t)
	w.run(cli.ExitFailure, []string{"cancel", "core"}, "operation bbbb3333 is PROCESSING, and no process runs it")
	lease, err := w.store.Acquire(t.Context(), "instance/i-core", process.Name())
	require.NoError(t, err)
	defer func() { require.NoError(t, lease.Release(t.Context())) }()
	time.AfterFunc(300*time.Millisecond, func() {
		if _, err := w.store.Get(t.Context(), store.KindCancellation, "i-core"); err != nil {
			t.Errorf("the process that runs the operation finds no cancellation: %v", err)
		}
		w.enter("bbbb3333", vnfm.StateFailedTemp)
	})
	w.run(0, []string{"cancel", "core"}, "asked ", "to stop SCALE of core", "SCALE of core is FAILED_TEMP")
	if left, err := w.store.List(t.Context(), store.Query{Kind: store.KindCancellation}); err != nil || len(left) > 0 {
		t.Errorf("cancellations in the store: %v, %v", left, err)
	}
}
