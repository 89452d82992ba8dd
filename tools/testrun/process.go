package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// attempt is one run of a unit.
type attempt struct {
	unit
	number  int
	dir     string
	began   time.Time
	took    time.Duration
	reader  *reader
	process *os.Process
	// state is set when the process has ended.
	state *os.ProcessState
	// err is set when the process did not end with success.
	err error
	// own is the processor time of the test process, children that of the programs that it started and waited for.
	own, children time.Duration
	// services is the share of the processor time of the labs that the unit used.
	services time.Duration
	// present counts, by program, the seconds in which the unit had one running.
	present map[string]time.Duration
	// waits is what the tests of the unit say that they waited for.
	waits map[string]time.Duration
}

// The environment variable and the files in its folder by which the test support of the project tells what a test is at:
// see internal/testsupport/labtest.
const (
	envDir      = "VNF_TEST_DIR"
	fileWaiting = "waiting"
	fileWaits   = "waits"
	prefixUses  = "uses."
)

// stopPatience is how long a test process may take to end when the run is interrupted.
const stopPatience = 20 * time.Second

func (a *attempt) args(o options) []string {
	// Most tests wait for a lab, so more of the subtests of one run at a time than there are processors.
	args := []string{"-test.v=test2json", "-test.paniconexit0", "-test.parallel=3", "-test.timeout=" + o.timeout.String()}
	switch {
	case a.test != "":
		args = append(args, "-test.run=^"+a.test+"$")
	case o.match != nil:
		args = append(args, "-test.run="+o.match.String())
	}
	if len(a.without) > 0 {
		args = append(args, "-test.skip=^("+strings.Join(a.without, "|")+")$")
	}
	return args
}

// run runs the unit to its end. An interrupt ends the process and what it started.
func (a *attempt) run(ctx context.Context, o options) {
	defer func() { a.took = time.Since(a.began) }()
	if a.err = os.MkdirAll(a.dir, 0o700); a.err != nil {
		return
	}
	defer func() { _ = os.RemoveAll(a.dir) }()
	read, write, err := os.Pipe()
	if err != nil {
		a.err = err
		return
	}
	command := exec.Command(a.pkg.binary, a.args(o)...) //nolint:gosec,noctx // A test binary that was just built; it is ended below.
	command.Dir = a.pkg.dir
	command.Env = append(os.Environ(), "PWD="+a.pkg.dir, envDir+"="+a.dir)
	command.Stdout, command.Stderr = write, write
	// The leader of a group, so that all that it starts can be ended with it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = command.Start()
	_ = write.Close()
	if err != nil {
		_ = read.Close()
		a.err = err
		return
	}
	a.setProcess(command.Process)
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		_ = a.reader.read(read)
	}()
	ended := make(chan struct{})
	go interrupt(ctx, command.Process.Pid, ended)
	a.err = command.Wait()
	close(ended)
	// A program that the test left behind may hold the pipe open.
	select {
	case <-followed:
	case <-time.After(5 * time.Second):
	}
	_ = read.Close()
	<-followed
	a.reader.finish()
	a.state = command.ProcessState
	a.readWaits()
}

// interrupt ends a group of processes when the run is interrupted before they have ended.
func interrupt(ctx context.Context, group int, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	_ = syscall.Kill(-group, syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(stopPatience):
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}

// processes guards the field that the sampler reads while the unit starts.
var processes sync.Mutex

func (a *attempt) setProcess(p *os.Process) {
	processes.Lock()
	defer processes.Unlock()
	a.process = p
}

// pid is 0 before the process has started.
func (a *attempt) pid() int {
	processes.Lock()
	defer processes.Unlock()
	if a.process == nil {
		return 0
	}
	return a.process.Pid
}

// waiting tells that the unit waits for another test to give something free, and so uses no processor.
func (a *attempt) waiting() bool {
	_, err := os.Stat(filepath.Join(a.dir, fileWaiting))
	return err == nil
}

// uses tells whether the unit has asked for a lab of a kind.
func (a *attempt) uses(kind string) bool {
	_, err := os.Stat(filepath.Join(a.dir, prefixUses+kind))
	return err == nil
}

// readWaits reads the lines `SECONDS WHAT` that the tests wrote.
func (a *attempt) readWaits() {
	a.waits = map[string]time.Duration{}
	data, err := os.ReadFile(filepath.Join(a.dir, fileWaits))
	if err != nil {
		return // no test waited
	}
	for line := range strings.Lines(string(data)) {
		number, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if seconds, err := strconv.ParseFloat(number, 64); err == nil {
			a.waits[what] += time.Duration(seconds * float64(time.Second))
		}
	}
}

// failure says why the process failed where no test did.
func (a *attempt) failure() string {
	if a.err == nil || len(a.reader.failures()) > 0 {
		return ""
	}
	return fmt.Sprintf("%s: %v, without a test that failed", a.name(), a.err)
}

// account reads the processor time of an ended process: what Wait tells is that of the process and of the children that it
// waited for. The part of the process alone is what the sampler saw last.
func (a *attempt) account() {
	if a.state == nil {
		return // it did not start
	}
	all := a.state.UserTime() + a.state.SystemTime()
	if a.own == 0 || a.own > all {
		a.own = all // it ended before the first sample
	}
	a.children = all - a.own
}
