package process

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain ends at once in the processes that TestDeadOfChild and TestInForeignProc start.
func TestMain(m *testing.M) {
	if os.Getenv("PROCESS_TEST_CHILD") == "foreign" {
		other := regexp.MustCompile(`start=\S+`).ReplaceAllString(Name(), "start=1")
		fmt.Fprintf(os.Stdout, "dead: %t, runs: %t", Dead(other), Runs(other)) //nolint:errcheck // The parent sees what is missing.
		os.Exit(0)
	}
	if os.Getenv("PROCESS_TEST_CHILD") != "" {
		os.Stdout.WriteString(Name()) //nolint:errcheck // The parent sees what is missing.
		buf := make([]byte, 1)
		os.Stdin.Read(buf) //nolint:errcheck // It waits for the parent to hang up.
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestDead(t *testing.T) {
	own := Name()
	require.True(t, strings.HasPrefix(own, "pid="+strconv.Itoa(os.Getpid())+" host="), "Name")
	require.Equal(t, Name(), own, "Name() changes from")
	require.False(t, Dead(own), "this process is dead")
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up on Linux only")
	}

	require.True(t, Runs(own), "this process does not run")
	replace := func(holder, field, value string) string {
		return regexp.MustCompile(`\b`+field+`=\S+`).ReplaceAllString(holder, field+"="+value)
	}
	for name, test := range map[string]struct {
		holder string
		want   bool
	}{
		"number used again":       {replace(own, "start", "1"), true},
		"no such process":         {replace(own, "pid", "4194305"), true},
		"other boot":              {replace(replace(own, "pid", "4194305"), "boot", "b"), false},
		"other container":         {replace(replace(own, "pid", "4194305"), "pidns", "1"), false},
		"without start":           {"pid=4194305 host=h", false},
		"free text":               {"somebody elsewhere", false},
		"negative process number": {replace(own, "pid", "-1"), false},
		"empty":                   {"", false},
	} {
		require.Equal(t, test.want, Dead(test.holder), "%s: Dead(%q)", name, test.holder)
		require.False(t, Runs(test.holder), "%s: Runs", name)
	}
}

func TestDescribe(t *testing.T) {
	for holder, want := range map[string]string{
		"pid=7 host=build-7 user=alice boot=b pidns=1 start=2":            "alice on host build-7 (process 7)",
		"pid=7 host=build-7 user=alice run=https://ci.example.com/jobs/1": "alice on host build-7 (process 7, run https://ci.example.com/jobs/1)",
		"pid=7 host=build-7": "somebody on host build-7 (process 7)",
		"somebody elsewhere": "somebody elsewhere",
	} {
		require.Equal(t, want, Describe(holder), "Describe(%q)", holder)
	}
}

func TestRunURL(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"https://app.terraform.io/app/acme/workspaces/edge/runs/run-1": {"TFC_RUN_ID": "run-1", "TFC_WORKSPACE_SLUG": "acme/edge"},
		"https://gitlab.example.com/a/b/-/jobs/7":                      {"CI_JOB_URL": "https://gitlab.example.com/a/b/-/jobs/7"},
		"https://github.com/acme/edge/actions/runs/9":                  {"GITHUB_RUN_ID": "9", "GITHUB_REPOSITORY": "acme/edge"},
		"https://ci.example.com/job/1":                                 {"BUILD_URL": "https://ci.example.com/job/1"},
		"https://ci.example.com/job/2":                                 {"BUILD_URL": "https://user:planted@ci.example.com/job/2?token=planted#planted"},
		"":                                                             {"CI_JOB_URL": "not an address", "TFC_RUN_ID": "run-1"},
	} {
		require.Equal(t, want, runURL(func(name string) string { return env[name] }), "runURL of %v", env)
	}
}

func TestDeadOfChild(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up on Linux only")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // The test binary itself.
	cmd.Env = append(os.Environ(), "PROCESS_TEST_CHILD=1")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	buf := make([]byte, 1000)
	n, err := out.Read(buf)
	require.NoError(t, err)
	holder := string(buf[:n])
	require.False(t, Dead(holder), "%q is dead while it runs", holder)
	require.NoError(t, in.Close())
	// The end of the output is the end of the process, which is a zombie then.
	for err == nil {
		_, err = out.Read(buf)
	}
	for !Dead(holder) && t.Context().Err() == nil {
		if _, err := os.Stat("/proc/" + strconv.Itoa(cmd.Process.Pid)); err != nil {
			break
		}
		runtime.Gosched()
	}
	require.True(t, Dead(holder), "%q is not dead as a zombie", holder)
	require.NoError(t, cmd.Wait())
	require.True(t, Dead(holder), "%q is not dead after its end", holder)
}
