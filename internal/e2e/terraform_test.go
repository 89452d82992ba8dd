//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// runLimit bounds one run of terraform, far above what a busy machine needs.
const runLimit = 10 * time.Minute

// module is a root module in a directory of its own.
type module struct {
	testing.TB
	tools tools
	dir   string
	// env is the whole environment of terraform.
	env []string
	// home and tmp are the HOME and the TMPDIR of its processes.
	home, tmp string
	// isolation names the namespaces of its own in which terraform runs, see isolate.
	isolation uintptr
	// user is the one as whom terraform runs, 0 for that of the test.
	user uint32
	// secret is the value of the configuration's variable "secret", unless it is empty; variables are further ones of the environment that
	// each runner is given.
	secret    string
	variables []string
}

func newModule(t testing.TB, built tools) *module {
	t.Helper()
	m := &module{TB: t, tools: built, dir: t.TempDir(), home: t.TempDir(), tmp: t.TempDir()}
	m.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "TMPDIR=" + m.tmp,
		"TF_CLI_CONFIG_FILE=" + built.cliConfig, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1",
	}
	return m
}

// setHome replaces the HOME of the module from now on; an empty one is not set at all.
func (m *module) setHome(home string) {
	m.env = slices.DeleteFunc(m.env, func(e string) bool { return strings.HasPrefix(e, "HOME=") })
	if home != "" {
		m.env = append(m.env, "HOME="+home)
	}
}

// useProvider has the module run another build of the provider from now on.
func (m *module) useProvider(built tools) {
	for i, e := range m.env {
		if strings.HasPrefix(e, "TF_CLI_CONFIG_FILE=") {
			m.env[i] = "TF_CLI_CONFIG_FILE=" + built.cliConfig
		}
	}
}

// write replaces the configuration of the module.
func (m *module) write(parts ...string) {
	m.Helper()
	const head = "terraform {\n  required_providers {\n    vnf = { source = \"nfv-iac/vnf\" }\n  }\n}\n"
	require.NoError(m, os.WriteFile(filepath.Join(m.dir, "main.tf"), []byte(head+strings.Join(parts, "\n")), 0o600))
}

// result is how a run of terraform ended.
type result struct {
	code int
	// output is what it wrote, standard output and standard error together.
	output string
	args   []string
}

// text is the output on one line without the frame that terraform draws, so that
// texts can be looked for whatever the line breaks are.
func (r result) text() string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(r.output)), " ")
}

// running is a terraform that runs.
type running struct {
	m      *module
	cmd    *exec.Cmd
	args   []string
	output bytes.Buffer
	done   chan struct{}
	err    error
	cancel context.CancelFunc
}

// start runs terraform in a process group of its own.
func (m *module) start(args ...string) *running {
	m.Helper()
	ctx, cancel := context.WithTimeout(m.Context(), runLimit)
	r := &running{m: m, args: args, done: make(chan struct{}), cancel: cancel}
	r.cmd = exec.CommandContext(ctx, m.tools.terraform, append(args[:1:1], append([]string{"-no-color"}, args[1:]...)...)...) //nolint:gosec // terraform itself
	r.cmd.Dir, r.cmd.Env = m.dir, slices.Concat(m.env, m.variables)
	if m.secret != "" {
		r.cmd.Env = append(r.cmd.Env, "TF_VAR_secret="+m.secret)
	}
	r.cmd.Stdout, r.cmd.Stderr = &r.output, &r.output
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: m.credential()}
	isolate(r.cmd.SysProcAttr, m.isolation)
	// A provider that outlives a killed terraform must not keep the pipe open.
	r.cmd.WaitDelay = 10 * time.Second
	if err := r.cmd.Start(); err != nil {
		cancel()
		m.Fatal(err)
	}
	go func() {
		defer close(r.done)
		r.err = r.cmd.Wait()
	}()
	return r
}

// wait waits for the end of the run.
func (r *running) wait() result {
	r.m.Helper()
	<-r.done
	r.cancel()
	var exit *exec.ExitError
	if r.err != nil && !errors.As(r.err, &exit) && !errors.Is(r.err, exec.ErrWaitDelay) {
		r.m.Fatalf("terraform %v: %v", r.args, r.err)
	}
	return result{code: r.cmd.ProcessState.ExitCode(), output: r.output.String(), args: r.args}
}

// providers returns the provider processes that terraform has started.
func (r *running) providers() []int {
	var out []int
	for _, pid := range children(r.cmd.Process.Pid) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.HasPrefix(string(name), "terraform-prov") {
			out = append(out, pid)
		}
	}
	return out
}

// children returns the processes whose parent is pid.
func children(pid int) []int {
	var out []int
	for _, p := range processes() {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p))
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			out = append(out, p)
		}
	}
	return out
}

func processes() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var out []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, pid)
		}
	}
	return out
}

// run runs terraform to its end.
func (m *module) run(args ...string) result {
	m.Helper()
	return m.start(args...).wait()
}

// expectExit runs terraform and expects an exit code.
func (m *module) expectExit(code int, args ...string) result {
	m.Helper()
	r := m.run(args...)
	if r.code != code {
		m.Fatalf("terraform %v: exit code %d, expected %d\n%s", args, r.code, code, r.output)
	}
	return r
}

func (m *module) apply() result {
	m.Helper()
	return m.expectExit(0, "apply", "-auto-approve")
}

func (m *module) destroy() result {
	m.Helper()
	return m.expectExit(0, "destroy", "-auto-approve")
}

// expectEmptyPlan expects that a plan finds nothing to do.
func (m *module) expectEmptyPlan() {
	m.Helper()
	if r := m.run("plan", "-detailed-exitcode"); r.code != 0 {
		m.Fatalf("there is something left to do: plan has the exit code %d\n%s", r.code, r.output)
	}
}

// object is one resource in the state.
type object struct {
	tainted bool
	values  map[string]any
	// private is what the provider keeps in the private state.
	private map[string][]byte
}

func (o *object) text(name string) string {
	s, _ := o.values[name].(string)
	return s
}

// state reads a resource out of the state, nil when it is not there.
func (m *module) state(address string) *object {
	m.Helper()
	data, err := os.ReadFile(filepath.Join(m.dir, "terraform.tfstate"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(m, err)
	var state struct {
		Resources []struct {
			Mode      string `json:"mode"`
			Type      string `json:"type"`
			Name      string `json:"name"`
			Instances []struct {
				Status     string         `json:"status"`
				Attributes map[string]any `json:"attributes"`
				Private    []byte         `json:"private"`
			} `json:"instances"`
		} `json:"resources"`
	}
	require.NoError(m, json.Unmarshal(data, &state))
	for _, r := range state.Resources {
		if r.Mode == "managed" && r.Type+"."+r.Name == address && len(r.Instances) > 0 {
			o := &object{tainted: r.Instances[0].Status == "tainted", values: r.Instances[0].Attributes}
			if private := r.Instances[0].Private; len(private) > 0 {
				require.NoError(m, json.Unmarshal(private, &o.private))
			}
			return o
		}
	}
	return nil
}

// resource is state for a resource that must be there.
func (m *module) resource(address string) *object {
	m.Helper()
	o := m.state(address)
	if o == nil {
		m.Fatalf("%s is not in the state", address)
	}
	return o
}

// actions plans and returns what the plan does with each resource that it changes.
func (m *module) actions(args ...string) map[string][]string {
	m.Helper()
	file := filepath.Join(m.TempDir(), "plan")
	m.expectExit(0, append([]string{"plan", "-out=" + file}, args...)...)
	shown := m.expectExit(0, "show", "-json", file)
	var plan struct {
		ResourceChanges []struct {
			Address string `json:"address"`
			Change  struct {
				Actions []string `json:"actions"`
			} `json:"change"`
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal([]byte(shown.output[max(0, strings.Index(shown.output, "{")):]), &plan); err != nil {
		m.Fatalf("reading the plan: %v\n%s", err, shown.output)
	}
	out := map[string][]string{}
	for _, c := range plan.ResourceChanges {
		if !slices.Equal(c.Change.Actions, []string{"no-op"}) {
			out[c.Address] = c.Change.Actions
		}
	}
	return out
}
