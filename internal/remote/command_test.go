package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// connect connects to a host, for the time of the test.
func connect(t *testing.T, h remote.Host) *remote.Client {
	t.Helper()
	c, err := remote.Dial(t.Context(), h, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestRun(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	for name, test := range map[string]struct {
		command remote.Command
		want    remote.Result
		status  int
		// loose is what each shell has words of its own for.
		loose bool
	}{
		"streams":        {command: remote.Command{Script: "echo out; echo err >&2"}, want: remote.Result{Stdout: "out\n", Stderr: "err\n"}},
		"status":         {command: remote.Command{Script: "echo no >&2; exit 7; echo never"}, want: remote.Result{Stderr: "no\n"}, status: 7},
		"signal":         {command: remote.Command{Script: "sh -c 'kill -KILL $$'"}, status: 137, want: remote.Result{Stderr: "illed"}, loose: true},
		"syntax":         {command: remote.Command{Script: "if then"}, status: 2, want: remote.Result{Stderr: "yntax error"}, loose: true},
		"nothing to do":  {command: remote.Command{}},
		"no input":       {command: remote.Command{Script: "cat; echo end"}, want: remote.Result{Stdout: "end\n"}},
		"input":          {command: remote.Command{Script: "wc -c; head -c 1", Stdin: strings.NewReader(strings.Repeat("x", 300_000))}, want: remote.Result{Stdout: "300000\n"}},
		"input unread":   {command: remote.Command{Script: "echo done", Stdin: strings.NewReader(strings.Repeat("x", 3_000_000))}, want: remote.Result{Stdout: "done\n"}},
		"any bytes":      {command: remote.Command{Script: `printf %s "$A" | od -An -tx1 | tr -d ' \n'`, Env: map[string]string{"A": "\xff\t'\\n%s\n$x \x01ü"}}, want: remote.Result{Stdout: "ff09275c6e25730a24782001c3bc"}},
		"arguments":      {command: remote.Command{Script: `printf '%s|' "$#" "$@"`, Args: []string{"a b", "", "-n", "it's", "*"}}, want: remote.Result{Stdout: "5|a b||-n|it's|*|"}},
		"here document":  {command: remote.Command{Script: "cat <<'END'\n$x 'y'\nEND"}, want: remote.Result{Stdout: "$x 'y'\n"}},
		"own variables":  {command: remote.Command{Script: `echo "${script-}${program-}${1-}"`}, want: remote.Result{Stdout: "\n"}},
		"in background":  {command: remote.Command{Script: "sleep 30 & echo begun"}, want: remote.Result{Stdout: "begun\n"}},
		"secrets":        {command: remote.Command{Script: `echo "it is $P"; echo "no $P" >&2; exit 1`, Env: map[string]string{"P": "hunter22"}, Secrets: []vnfm.Secret{"hunter22"}}, status: 1, want: remote.Result{Stdout: "it is (sensitive)\n", Stderr: "no (sensitive)\n"}},
		"own names":      {command: remote.Command{Script: "set -u\nmkdir -p \"$D/a\" && find \"$D\" -name a | sed s,.*/,,; type look end pulse >/dev/null 2>&1 || echo none", Env: map[string]string{"D": t.TempDir()}}, want: remote.Result{Stdout: "a\nnone\n"}},
		"host's secrets": {command: remote.Command{Script: `echo "secret of root"`}, want: remote.Result{Stdout: "secret of root\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.command.What = "doing it"
			result, err := c.Run(t.Context(), test.command)
			var failed *remote.StatusError
			if errors.As(err, &failed) {
				assert.Equal(t, test.status, failed.Status)
				assert.Contains(t, err.Error(), fmt.Sprintf("doing it on %s ended with status %d", c.Name(), test.status))
				assert.Contains(t, err.Error(), strings.TrimSpace(test.want.Stderr))
				if test.loose {
					assert.Contains(t, result.Stderr, test.want.Stderr)
					return
				}
				// An error goes to people.
				result = failed.Result
			} else {
				require.NoError(t, err)
				assert.Zero(t, test.status)
			}
			assert.Equal(t, test.want, result)
		})
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	_, err := c.Run(t.Context(), remote.Command{What: "x", Script: "a\x00b"})
	require.ErrorContains(t, err, "NUL")
	_, err = c.Run(t.Context(), remote.Command{What: "x", Env: map[string]string{"A;B": "1"}})
	require.ErrorContains(t, err, `"A;B" is not the name`)
}

func TestOutput(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	fifo := filepath.Join(t.TempDir(), "go")
	var got []string
	_, err := c.Run(t.Context(), remote.Command{
		What: "streaming", Script: `echo first password; while [ ! -e "$1" ]; do sleep 0.05; done; echo second >&2; sleep 0.2; printf third`, Args: []string{fifo},
		Secrets: []vnfm.Secret{"password"},
		// The first line comes while the script waits for it to come.
		Output: func(line string) {
			got = append(got, line)
			if len(got) == 1 {
				assert.NoError(t, os.WriteFile(fifo, nil, 0o600))
			}
		},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"first (sensitive)", "second", "third"}, got)
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	count := 0
	result, err := c.Run(t.Context(), remote.Command{
		What: "talking", Script: `i=0; while [ $i -lt 20000 ]; do echo "line $i"; i=$((i+1)); done; head -c 1000000 /dev/zero | tr '\0' y >&2`,
		Output: func(string) { count++ },
	})
	require.NoError(t, err)
	assert.Len(t, result.Stdout, 64<<10)
	assert.Len(t, result.Stderr, 64<<10)
	assert.True(t, strings.HasSuffix(result.Stdout, "line 19999\n"))
	assert.Greater(t, count, 20_000)
}

// TestCommandLine looks at the processes of the machine while a command with secrets
// runs, and at the command lines that the server was given.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	server := sshtest.New(t, sshtest.Options{})
	c := connect(t, server.Host())
	// The command lives until it was looked at.
	seen, looked := "", filepath.Join(t.TempDir(), "looked")
	_, err := c.Run(t.Context(), remote.Command{
		What: "x", Script: "secret=in-the-script; echo $$; until [ -e " + looked + " ]; do sleep 0.05; done # " + "hidden-in-the-script", Env: map[string]string{"TOKEN": "hidden-in-the-environment"},
		Args: []string{"hidden-in-an-argument"}, Stdin: strings.NewReader("hidden-in-the-input"),
		Output: func(pid string) {
			all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range all {
				line, _ := os.ReadFile(file)
				if file == "/proc/"+pid+"/cmdline" || bytes.Contains(line, []byte("hidden-in-")) {
					seen += strings.ReplaceAll(string(line), "\x00", " ")
				}
			}
			_ = os.WriteFile(looked, nil, 0o600)
		},
	})
	require.NoError(t, err)
	assert.Equal(t, `/bin/sh -c IFS= read -r program && eval "$(printf %b "$program")" `, seen)
	assert.Len(t, server.Commands(), 1)
	assert.NotContains(t, server.Commands()[0], "hidden-in-")
}

// processesScript is a script that starts what does not want to end, and writes the process ids.
const processesScript = `
trap "" TERM
pid() { echo $$ >>"$1"; }
sh -c 'trap "" TERM; echo $$ >>"$0"; while :; do sleep 0.1; done' "$1" &
setsid sh -c 'echo $$ >>"$0"; sleep 600' "$1" &
(sh -c 'echo $$ >>"$0"; exec sleep 600' "$1" &)
echo $$ >>"$1"
while [ "$(wc -l <"$1")" -lt 4 ]; do sleep 0.05; done
echo all there
while :; do sleep 0.1; done
`

// runProcesses runs it, and calls end when all of it is there.
func runProcesses(ctx context.Context, t *testing.T, c *remote.Client, command remote.Command, end func()) (string, error) {
	t.Helper()
	folder, err := os.MkdirTemp("", "remote-") //nolint:usetesting // Other users must get there.
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	require.NoError(t, os.Chmod(folder, 0o755))
	file := filepath.Join(folder, "pids")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	require.NoError(t, os.Chmod(file, 0o666))
	command.What, command.Script, command.Args = "living", processesScript, []string{file}
	command.Output = func(line string) {
		if line == "all there" {
			go end()
		}
	}
	_, err = c.Run(ctx, command)
	return file, err
}

// requireGone waits for the end of the processes in a file.
func requireGone(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	pids := strings.Fields(string(content))
	require.Len(t, pids, 4)
	require.Eventually(t, func() bool {
		for _, pid := range pids {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err == nil && !strings.Contains(string(stat), ") Z ") {
				return false
			}
		}
		return true
	}, 20*time.Second, 20*time.Millisecond, "processes %s live on", pids)
}

func TestCancelKills(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	ctx, cancel := context.WithCancel(t.Context())
	began := time.Time{}
	file, err := runProcesses(ctx, t, c, remote.Command{}, func() { began = time.Now(); cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "living on "+c.Name()+" was stopped")
	assert.Less(t, time.Since(began), 30*time.Second)
	requireGone(t, file)
	_, err = c.Run(t.Context(), remote.Command{What: "x", Script: "true"})
	require.NoError(t, err, "the connection is good for others")
}

func TestTimeoutKills(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	file, err := runProcesses(t.Context(), t, c, remote.Command{Timeout: 2 * time.Second}, func() {})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "it did not end within 2s")
	requireGone(t, file)
}

func TestCutKills(t *testing.T) {
	t.Parallel()
	server := sshtest.New(t, sshtest.Options{})
	c := connect(t, server.Host())
	file, err := runProcesses(t.Context(), t, c, remote.Command{}, server.Cut)
	var broken *remote.ConnectionError
	require.ErrorAs(t, err, &broken)
	require.ErrorContains(t, err, "living on "+c.Name()+": no connection: the host has closed it, or is unreachable")
	requireGone(t, file)
}

func TestCloseKills(t *testing.T) {
	t.Parallel()
	c := connect(t, sshtest.New(t, sshtest.Options{}).Host())
	file, err := runProcesses(t.Context(), t, c, remote.Command{}, func() { _ = c.Close() })
	require.ErrorContains(t, err, "it was closed here")
	requireGone(t, file)
}

// TestSilence is a host that falls silent while a command says nothing.
func TestSilence(t *testing.T) {
	t.Parallel()
	server := sshtest.New(t, sshtest.Options{})
	c, err := remote.DialAlive(t.Context(), server.Host(), 200*time.Millisecond, 300*time.Millisecond)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Run(t.Context(), remote.Command{What: "waiting", Script: "echo begun; sleep 600", Output: func(string) { server.Swallow() }})
	var broken *remote.ConnectionError
	require.ErrorAs(t, err, &broken)
	require.ErrorContains(t, err, "the host has not answered for 300ms")
}

func TestEach(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	err := remote.Each(t.Context(), 3, []int{1, 2, 3, 4, 5, 6, 7, 8}, func(_ context.Context, n int) error {
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		<-time.After(20 * time.Millisecond)
		if n%4 == 0 {
			return fmt.Errorf("host %d fails", n)
		}
		return nil
	})
	require.EqualError(t, err, "host 4 fails\nhost 8 fails")
	assert.EqualValues(t, 3, most.Load())

	ctx, cancel := context.WithCancel(t.Context())
	var done atomic.Int32
	err = remote.Each(ctx, 1, []int{1, 2, 3}, func(context.Context, int) error {
		done.Add(1)
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.EqualValues(t, 1, done.Load())
}
