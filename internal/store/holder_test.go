package store

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestMain ends at once in the process that TestHolderDead starts.
func TestMain(m *testing.M) {
	if os.Getenv("HOLDER_TEST_CHILD") != "" {
		os.Stdout.WriteString(Holder()) //nolint:errcheck // The parent sees what is missing.
		buf := make([]byte, 1)
		os.Stdin.Read(buf) //nolint:errcheck // It waits for the parent to hang up.
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestHolderDead(t *testing.T) {
	own := Holder()
	if !strings.HasPrefix(own, "pid="+strconv.Itoa(os.Getpid())+" host=") {
		t.Errorf("Holder() = %q", own)
	}
	if own != Holder() {
		t.Errorf("Holder() changes from %q to %q", own, Holder())
	}
	if HolderDead(own) {
		t.Error("this process is dead")
	}
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up on Linux only")
	}

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
		if got := HolderDead(test.holder); got != test.want {
			t.Errorf("%s: HolderDead(%q) = %t, want %t", name, test.holder, got, test.want)
		}
	}
}

func TestHolderDeadOfChild(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up on Linux only")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // The test binary itself.
	cmd.Env = append(os.Environ(), "HOLDER_TEST_CHILD=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 1000)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	holder := string(buf[:n])
	if HolderDead(holder) {
		t.Errorf("%q is dead while it runs", holder)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	// The end of the output is the end of the process, which is a zombie then.
	for err == nil {
		_, err = out.Read(buf)
	}
	for !HolderDead(holder) && t.Context().Err() == nil {
		if _, err := os.Stat("/proc/" + strconv.Itoa(cmd.Process.Pid)); err != nil {
			break
		}
		runtime.Gosched()
	}
	if !HolderDead(holder) {
		t.Errorf("%q is not dead as a zombie", holder)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !HolderDead(holder) {
		t.Errorf("%q is not dead after its end", holder)
	}
}
