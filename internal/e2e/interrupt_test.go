//go:build unix

package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// providerLimit is what an interrupted provider has to come to an end.
	providerLimit = 2 * time.Second
	// terraformLimit is what terraform has besides, on a busy machine.
	terraformLimit = 15 * time.Second
)

// failing is the package hello whose pod never becomes ready.
func failing(t testing.TB) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "hello")
	const labels = "    metadata:\n      labels: { app.kubernetes.io/name: web }\n"
	acctest.Edit(t, dir, "Files/kubernetes/web.yaml", labels, labels+"      annotations: { lab.vnf/fail: never-ready }\n")
	acctest.Hash(t, dir)
	return dir
}

// rollsOut matches once the provider has written a Deployment and watches it. The watch alone may begin before the write.
func rollsOut() func(request) bool {
	var written, watched bool
	return func(r request) bool {
		if strings.Contains(r.uri, "/deployments") {
			watched = watched || strings.Contains(r.uri, "watch=")
			written = written || r.write() && r.status != 0 && !strings.Contains(r.uri, "dryRun=")
		}
		return written && watched
	}
}

// interrupt starts terraform, presses Ctrl-C once it waits, and checks that
// provider and terraform end soon.
func (env *testEnv) interrupt(args ...string) result {
	env.Helper()
	return env.signal(syscall.SIGINT, args...)
}

// signal is interrupt with another signal, which reaches terraform and the provider.
func (env *testEnv) signal(sent syscall.Signal, args ...string) result {
	env.Helper()
	waiting := env.gateway.expect(rollsOut())
	run := env.start(args...)
	select {
	case <-waiting:
	case <-run.done:
		env.Fatalf("terraform ended before it waited\n%s", run.wait().output)
	}
	pressed := time.Now()
	// A terminal sends Ctrl-C to all processes in the foreground; a runner sends SIGTERM to all of its process group.
	if err := syscall.Kill(-run.cmd.Process.Pid, sent); err != nil {
		env.Fatal(err)
	}
	got := run.wait()
	if took := time.Since(pressed); took > terraformLimit {
		env.Errorf("terraform ended %v after the interrupt", took)
	} else {
		env.Logf("terraform ended %v after the interrupt", took.Round(time.Millisecond))
	}
	for _, op := range env.operations() {
		if op.State.Final() {
			continue
		}
		if op.State != vnfm.StateFailedTemp {
			env.Errorf("operation %s is %s, expected FAILED_TEMP", op.Type, op.State)
		}
		if took := op.StateEnteredAt.Sub(pressed); took > providerLimit {
			env.Errorf("the provider ended the operation %v after the interrupt", took)
		} else {
			env.Logf("the provider ended the operation %v after the interrupt", took.Round(time.Millisecond))
		}
	}
	return got
}

// expectResumable checks that the state holds the instance as one that the next apply
// continues in place, and returns its id.
func (env *testEnv) expectResumable() string {
	env.Helper()
	instance := env.resource(address)
	if instance.tainted {
		env.Errorf("the instance is tainted: the next apply would replace it")
	}
	if got := instance.text("status"); got != string(vnfm.StatusFailedTemp) {
		env.Errorf("the instance is %s, expected FAILED_TEMP", got)
	}
	for _, args := range [][]string{{"-refresh=false"}, nil} {
		actions := env.actions(args...)
		if diff := cmp.Diff([]string{"update"}, actions[address]); diff != "" {
			env.Errorf("plan %v of the instance, expected (-) and planned (+):\n%s", args, diff)
		}
	}
	return instance.text("id")
}

// resume applies a mended package and checks that the instance is still the same.
func (env *testEnv) resume(id, source string, arguments ...string) {
	env.Helper()
	env.configure(source, arguments...)
	env.apply()
	env.expectEmptyPlan()
	env.expectConsistent()
	if got := env.resource(address).text("id"); got != id {
		env.Errorf("the instance %s became %s", id, got)
	}
}

// TestAccInterrupt ends the process group with SIGTERM, as a runner does, while terraform waits for pods of an instantiation that will
// never be ready, and presses Ctrl-C in an update.
func TestAccInterrupt(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.configure(failing(t))
	if r := env.signal(syscall.SIGTERM, "apply", "-auto-approve"); r.code == 0 {
		t.Errorf("the interrupted apply ended well\n%s", r.output)
	}
	id, before := env.expectResumable(), env.uids()
	env.resume(id, acctest.ExamplePackage(t, "hello"))
	// What was not written yet when the signal came has no UID before.
	if diff := cmp.Diff(before, env.uids(), cmpopts.IgnoreMapEntries(func(object, _ string) bool { return before[object] == "" })); diff != "" {
		t.Errorf("UIDs before (-) and after (+) the run that continued:\n%s", diff)
	}

	env.configure(failing(t))
	if r := env.interrupt("apply", "-auto-approve"); r.code == 0 {
		t.Errorf("the interrupted apply ended well\n%s", r.output)
	}
	if got := env.expectResumable(); got != id {
		t.Errorf("the instance %s became %s", id, got)
	}
	env.resume(id, acctest.ExamplePackage(t, "hello"))
	env.destroy()
	env.destroyed()
}

// TestAccInterrupt_cancel follows an instantiation that would be rolled back after a failure, and cancels it from another shell. As after
// Ctrl-C nothing is rolled back: who cancels wants to stop now, not to wait for a removal.
func TestAccInterrupt_cancel(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	lines := filepath.Join(t.TempDir(), "progress")
	env.variables = append(env.variables, "VNF_PROGRESS="+lines)
	env.configure(failing(t), `on_failure = "rollback"`)
	waiting := env.gateway.expect(rollsOut())
	run := env.start("apply", "-auto-approve")
	select {
	case <-waiting:
	case <-run.done:
		t.Fatalf("terraform ended before it waited\n%s", run.wait().output)
	}
	followed := make(chan string, 1)
	go func() { followed <- env.operationsCommand(1, "watch", "test") }()
	if said := env.operationsCommand(0, "cancel", "test"); !strings.Contains(said, "INSTANTIATE of test is FAILED_TEMP") {
		t.Errorf("operations cancel says\n%s", said)
	}
	r := run.wait()
	if r.code == 0 || !strings.Contains(r.text(), "the operation was cancelled by") {
		t.Errorf("the cancelled apply ended with %d\n%s", r.code, r.output)
	}
	if said := <-followed; !strings.Contains(said, "INSTANTIATE of test: PROCESSING") || !strings.Contains(said, "was cancelled by") {
		t.Errorf("operations watch says\n%s", said)
	}
	text, err := os.ReadFile(lines)
	if err != nil || !regexp.MustCompile(`(?m)^[\d:]{8}  test  INSTANTIATE  \d+s  PROCESSING$`).Match(text) || !regexp.MustCompile(`FAILED_TEMP: .*the operation was cancelled by`).Match(text) {
		t.Errorf("VNF_PROGRESS: %v\n%s", err, text)
	}
	env.resume(env.expectResumable(), acctest.ExamplePackage(t, "hello"), `on_failure = "rollback"`)
	env.destroy()
	env.destroyed()
	for _, kind := range []store.Kind{store.KindOperation, store.KindCancellation} {
		if left := env.list(kind); len(left) > 0 {
			t.Errorf("%d records of kind %s left", len(left), kind)
		}
	}
}

// operationsCommand runs a command about operations of the provider's binary on the local store, and wants an exit code.
func (env *testEnv) operationsCommand(code int, args ...string) string {
	env.Helper()
	config, err := os.ReadFile(env.tools.cliConfig)
	require.NoError(env, err)
	dir := regexp.MustCompile(`"nfv-iac/vnf" = "(.*)"`).FindSubmatch(config)
	require.NotNil(env, dir, "the configuration of terraform names no folder of the provider")
	args = append([]string{"operations", "--store", env.store.Path}, args...)
	cmd := exec.CommandContext(env.Context(), filepath.Join(string(dir[1]), "terraform-provider-vnf"), args...) //nolint:gosec // the program under test
	cmd.Env = env.env
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		env.Errorf("%v: %v, want exit code %d\n%s", args, err, code, out)
	}
	return string(out)
}
