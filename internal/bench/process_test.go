//go:build linux

package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sampleEvery is how often a running program is looked at.
const sampleEvery = 20 * time.Millisecond

// clockTick is the unit of times in /proc: USER_HZ is 100 on every Linux.
const clockTick = 10 * time.Millisecond

// usage is what a program and the programs that it started took.
type usage struct {
	wall time.Duration
	// cpu is user and system time of all, own that of the program itself.
	cpu, own time.Duration
	// peak and private are the largest VmHWM and RssAnon of a started program, in bytes. What is private is seen every sampleEvery.
	peak, private int64
	// started is how many programs it started.
	started int
	stdout  []byte
}

// runMeasured runs a command to its end. An error holds what the command said;
// usage.stdout is set also then.
func runMeasured(ctx context.Context, cmd *exec.Cmd) (usage, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 10 * time.Second
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	sampling, stop := context.WithCancel(ctx)
	sampled := make(chan *sampler, 1)
	go func() {
		s := &sampler{parent: cmd.Process.Pid, foreign: map[int]bool{}, peaks: map[int]resident{}}
		s.run(sampling)
		sampled <- s
	}()
	err := cmd.Wait()
	u := usage{wall: time.Since(begin), stdout: stdout.Bytes()}
	stop()
	s := <-sampled
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		// The usage of a child that has ended includes its own children.
		u.cpu = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	u.own, u.started = s.own, len(s.peaks)
	for _, peak := range s.peaks {
		u.peak, u.private = max(u.peak, peak.all), max(u.private, peak.private)
	}
	if err != nil {
		return u, fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return u, nil
}

// sampler looks at a process and its children while they run.
type sampler struct {
	parent int
	// foreign are processes that are known not to be children.
	foreign map[int]bool
	// peaks are by child.
	peaks map[int]resident
	own   time.Duration
}

func (s *sampler) run(ctx context.Context) {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.look()
		}
	}
}

func (s *sampler) look() {
	if fields := stat(s.parent); fields != nil {
		s.own = time.Duration(number(fields[11])+number(fields[12])) * clockTick
	}
	proc, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer func() { _ = proc.Close() }()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || s.foreign[pid] || pid == s.parent {
			continue
		}
		if _, known := s.peaks[pid]; !known {
			fields := stat(pid)
			if fields == nil {
				continue
			}
			if int(number(fields[1])) != s.parent {
				s.foreign[pid] = true
				continue
			}
		}
		now, was := residentOf(name), s.peaks[pid]
		s.peaks[pid] = resident{max(was.all, now.all), max(was.private, now.private)}
	}
}

// stat returns the fields of /proc/<pid>/stat from the state on.
func stat(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// The name of the program stands in parentheses and may hold anything.
	_, rest, ok := bytes.Cut(data, []byte(") "))
	fields := strings.Fields(string(rest))
	if !ok || len(fields) < 15 {
		return nil
	}
	return fields
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// resident is memory of a process, in bytes: all that it ever had at once, pages of its program among them, and what is its own now.
type resident struct{ all, private int64 }

func residentOf(pid string) resident {
	data, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return resident{}
	}
	value := func(name string) int64 {
		_, rest, _ := bytes.Cut(data, []byte(name))
		fields := strings.Fields(string(rest[:min(len(rest), 64)]))
		if len(fields) == 0 {
			return 0
		}
		return number(fields[0]) << 10
	}
	return resident{value("VmHWM:"), value("RssAnon:")}
}

// selfCPU is the user and system time of this process.
func selfCPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// resetPeak sets VmHWM of this process to what it holds now.
func resetPeak() {
	// Without the right to write there, the peak is that of the whole run.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// loadAverage is how many programs wanted to run in the last 1, 5 and 15 minutes.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(data))
	if err != nil || len(fields) < 3 {
		return "unknown"
	}
	return strings.Join(fields[:3], " ")
}
