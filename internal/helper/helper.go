// Package helper runs functions of this program in processes of their own, in which processor time and memory are
// limited. It is for libraries that foreign input can make work without end: Go can stop neither a loop of a template
// nor an allocation, and the system can stop a process.
//
// A function is named by a variable and served from init, so that every program that links it can be its own helper, a
// test's included:
//
//	var render = helper.New("render", renderChart)
//
//	func init() { render.Serve() }
package helper

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
)

// environment is the variable that tells a process which function it is to serve.
const environment = "VNF_HELPER"

// maxIdle is how many processes of a function wait for a further call.
const maxIdle = 2

// Function is a function that runs in a helper process. Q and A are what encoding/gob can send.
type Function[Q, A any] struct {
	name string
	f    func(Q) A

	mu   sync.Mutex
	idle []*process
}

// New returns the function of that name. Two functions of a program have different names.
func New[Q, A any](name string, f func(Q) A) *Function[Q, A] {
	return &Function[Q, A]{name: name, f: f}
}

// Limits are what one call may take.
type Limits struct {
	// CPU is processor time, which a busy machine does not spend faster than an idle one.
	CPU time.Duration
	// Memory is what the process may hold, in bytes.
	Memory int64
}

// LimitError says which of the limits a call went past. It reads as the rest of a sentence about the call.
type LimitError struct{ Limit string }

func (e *LimitError) Error() string { return "takes more than " + e.Limit }

func (l Limits) spentTime() error {
	return &LimitError{fmt.Sprintf("%s of processor time", l.CPU.Round(100*time.Millisecond))}
}

func (l Limits) spentMemory() error {
	return &LimitError{fmt.Sprintf("%d MiB of memory", l.Memory>>20)}
}

// Call runs the function in a helper process, which ends with ctx. The error is a *LimitError for what goes past a
// limit; one that the process ended with otherwise, such as a panic, is reported in its words.
func (f *Function[Q, A]) Call(ctx context.Context, l Limits, q Q) (A, error) {
	for {
		p, used, err := f.process()
		if err != nil {
			var none A
			return none, err
		}
		stop := context.AfterFunc(ctx, p.kill)
		a, sent, err := exchange[Q, A](p, l, q)
		switch stopped := stop(); {
		case err == nil && stopped:
			f.keep(p)
			return a, nil
		case err == nil:
			p.close()
			return a, nil
		case !sent && used && ctx.Err() == nil:
			// It ended while it had nothing to do.
			p.close()
			continue
		}
		p.kill()
		return a, p.failure(ctx, l, f.name, err)
	}
}

// exchange sends the question and receives the answer. Sent is whether the process took the question.
func exchange[Q, A any](p *process, l Limits, q Q) (a A, sent bool, err error) {
	if err := errors.Join(p.out.Encode(l), p.out.Encode(&q)); err != nil {
		return a, false, err
	}
	return a, true, p.in.Decode(&a)
}

// process returns a process that waits, or a new one.
func (f *Function[Q, A]) process() (p *process, used bool, err error) {
	f.mu.Lock()
	if last := len(f.idle) - 1; last >= 0 {
		p, f.idle = f.idle[last], f.idle[:last]
	}
	f.mu.Unlock()
	if p != nil {
		return p, true, nil
	}
	p, err = start(f.name)
	return p, false, err
}

func (f *Function[Q, A]) keep(p *process) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.idle) < maxIdle {
		f.idle = append(f.idle, p)
		return
	}
	p.close()
}

// process is a helper process as its parent sees it.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	out    *gob.Encoder
	in     *gob.Decoder
	stderr *beginning
	wait   func() error
}

// program is the path of this program. On Linux the link leads to the file that runs, also when an update has put
// another one in its place.
func program() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

func start(name string) (*process, error) {
	path, err := program()
	if err != nil {
		return nil, fmt.Errorf("starting the helper process %q: %w", name, err)
	}
	cmd := exec.Command(path) //nolint:gosec,noctx // This program; Call ends it with its context.
	// Nothing of the user's environment: neither credentials nor a time zone, which templates would print.
	cmd.Env = []string{environment + "=" + name, "TZ=UTC", "GOTRACEBACK=none"}
	p := &process{cmd: cmd, stderr: &beginning{}}
	cmd.Stderr = p.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the helper process %q: %w", name, err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the helper process %q: %w", name, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the helper process %q: %w", name, err)
	}
	p.stdin, p.out, p.in = stdin, gob.NewEncoder(stdin), gob.NewDecoder(stdout)
	p.wait = sync.OnceValue(cmd.Wait)
	return p, nil
}

// kill ends the process at once.
func (p *process) kill() { _ = p.cmd.Process.Kill() }

// close lets the process end by itself, as it does when nobody can ask it any more.
func (p *process) close() {
	_ = p.stdin.Close()
	go func() { _ = p.wait() }()
}

// failure is why there was no answer.
func (p *process) failure(ctx context.Context, l Limits, name string, err error) error {
	_ = p.wait()
	output := strings.TrimSpace(p.stderr.String())
	switch code := p.cmd.ProcessState.ExitCode(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case code == exitTime:
		return l.spentTime()
	case code == exitMemory, strings.Contains(output, "out of memory"), strings.Contains(output, "cannot allocate memory"):
		return l.spentMemory()
	case strings.Contains(output, "stack exceeds"):
		return &LimitError{fmt.Sprintf("%d MiB of stack", maxStack>>20)}
	case output != "":
		return fmt.Errorf("the helper process %q failed: %s", name, reason(output))
	}
	return fmt.Errorf("the helper process %q gave no answer: %w; it ended with: %s", name, err, p.cmd.ProcessState)
}

// reason is the line with which the runtime of Go ends a process, or the last one.
func reason(output string) string {
	lines := strings.Split(output, "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return lines[len(lines)-1]
}

// beginning keeps the first lines of what a process says.
type beginning struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// maxSaid bounds what is kept of the messages of a process, in bytes.
const maxSaid = 4 << 10

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p[:min(len(p), maxSaid-b.text.Len())])
	return len(p), nil
}

func (b *beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
