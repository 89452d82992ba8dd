package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

const (
	// killPatience is how long a command may take to end: it is asked first
	// and killed a second later.
	killPatience = 5 * time.Second
	// feedPatience is how long the input of a command that has to end may be stuck.
	feedPatience = time.Second
	// drainPatience is how long a command's output stays open without a word after its
	// end: what it left running in the background holds it open for ever.
	drainPatience = 2 * time.Second
	// drainLimit is how long the output of a command that has ended is read at most.
	drainLimit = 30 * time.Second
	// openPatience is how long a host may open no session while none of ours runs.
	openPatience = 5 * time.Second
	// sessionsAtOnce is below MaxSessions of OpenSSH, 10 unless somebody changed it.
	sessionsAtOnce = 8
)

// execution is one session with its streams.
type execution struct {
	// begin is what is sent before content.
	begin          string
	content        io.Reader
	stdout, stderr io.Writer
}

// errNoCommands is a host that refuses the command line.
var errNoCommands = errors.New("the host runs no commands for this user (a forced command, or no shell)")

// errNoStatus is a session that ended and did not say how.
var errNoStatus = errors.New("the host ended the session without an exit status")

// execute runs the command line with an input and returns the exit status. When ctx ends
// the input ends too, upon which the host kills what runs; the error is then that of ctx.
// Any other error is of the connection, or of reading the content.
func (c *Client) execute(ctx context.Context, e execution) (int, error) {
	select {
	case c.sessions <- struct{}{}:
		defer func() { <-c.sessions }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	channel, requests, err := c.open(ctx)
	if err != nil {
		return 0, err
	}
	defer channel.Close()

	heard := make(chan struct{}, 1)
	var streams sync.WaitGroup
	stdout, stderr := &gate{to: e.stdout}, &gate{to: e.stderr}
	defer stdout.shut()
	defer stderr.shut()
	streams.Go(func() { forward(stdout, channel, heard) })
	streams.Go(func() { forward(stderr, channel.Stderr(), heard) })
	input := startFeeding(channel, e)
	defer input.stop()
	ended := watchStatus(requests)

	code, err := 0, error(nil)
	select {
	case code = <-ended.status:
	case <-ended.closed:
		code, err = ended.last()
	case err = <-input.failed:
		stop(channel, input.fed, ended.closed)
	case <-ctx.Done():
		err = context.Cause(ctx)
		input.stop()
		stop(channel, input.fed, ended.closed)
	}
	// The end of the streams comes after the status, and before the end of the channel.
	drain(&streams, heard)
	if errors.Is(err, errNoStatus) {
		err = c.explain(err)
	}
	return code, err
}

// feeding is the input of a session on its way to the host.
type feeding struct {
	// stop ends the input early, fed is closed at its end, and failed has the error of reading its content.
	stop   func()
	fed    chan struct{}
	failed chan error
}

func startFeeding(channel ssh.Channel, e execution) feeding {
	stopping := make(chan struct{})
	f := feeding{stop: sync.OnceFunc(func() { close(stopping) }), fed: make(chan struct{}), failed: make(chan error, 1)}
	go func() {
		defer close(f.fed)
		if err := feed(channel, e, stopping); err != nil {
			f.failed <- err
		}
	}()
	return f
}

// ending is how a session ends: with the status of its command, and closed.
type ending struct {
	status chan int
	closed chan struct{}
}

// watchStatus answers the requests of a host until the session is closed.
func watchStatus(requests <-chan *ssh.Request) ending {
	e := ending{status: make(chan int, 1), closed: make(chan struct{})}
	go func() {
		defer close(e.closed)
		for request := range requests {
			if code, ok := exitStatus(request); ok {
				select {
				case e.status <- code:
				default:
					// A command ends once. Repeated messages of a host must not block the connection.
				}
			}
			if request.WantReply {
				_ = request.Reply(false, nil)
			}
		}
	}()
	return e
}

// last is the status of a session that is closed.
func (e ending) last() (int, error) {
	select {
	case code := <-e.status:
		return code, nil
	default:
		return 0, errNoStatus
	}
}

// open begins a session. A host that opens no more is asked again: it takes a moment to
// forget one that has ended.
func (c *Client) open(ctx context.Context) (ssh.Channel, <-chan *ssh.Request, error) {
	for began := time.Now(); ; {
		channel, requests, err := c.openOnce(ctx)
		var refused *ssh.OpenChannelError
		if !errors.As(err, &refused) {
			return channel, requests, err
		}
		if time.Since(began) > openPatience && len(c.sessions) < 2 {
			return nil, nil, fmt.Errorf("the host opens no session (%s): sshd may allow none (MaxSessions)", strings.TrimSpace(refused.Message))
		}
		// When ctx has ended, the next try says so.
		_ = poll.Sleep(ctx, 100*time.Millisecond)
	}
}

// openOnce tries to begin a session. Requests that a silent host leaves open end with the
// connection.
func (c *Client) openOnce(ctx context.Context) (ssh.Channel, <-chan *ssh.Request, error) {
	type opened struct {
		channel  ssh.Channel
		requests <-chan *ssh.Request
		err      error
	}
	answer := make(chan opened, 1)
	go func() {
		var o opened
		o.channel, o.requests, o.err = c.conn.OpenChannel("session", nil)
		if o.err == nil {
			var accepted bool
			accepted, o.err = o.channel.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{commandLine}))
			if o.err == nil && !accepted {
				o.err = errNoCommands
			}
			if o.err != nil || ctx.Err() != nil {
				_ = o.channel.Close()
			}
		}
		answer <- o
	}()
	select {
	case o := <-answer:
		var refused *ssh.OpenChannelError
		if o.err != nil && !errors.As(o.err, &refused) && !errors.Is(o.err, errNoCommands) {
			o.err = c.explain(o.err)
		}
		return o.channel, o.requests, o.err
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// explain puts the reason for which the connection ended in place of what a session
// says of it.
func (c *Client) explain(err error) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-c.gone:
		return c.cause
	case <-timer.C:
		return err
	}
}

// feed writes the input of a command and then signs of life, until it has to stop; then
// it ends the input. The first signs come fast: what reads the content may take one of
// them with it. The error is of reading the content.
func feed(to ssh.Channel, e execution, stopping <-chan struct{}) error {
	// Nobody else writes, or ends, the input: a channel does not bear two at once. A
	// session that has ended refuses what is written, and says more elsewhere.
	defer func() { _ = to.CloseWrite() }()
	if _, err := io.WriteString(to, e.begin); err != nil {
		return nil //nolint:nilerr // The session has ended.
	}
	if e.content != nil {
		if complete, err := pour(to, e.content, stopping); !complete {
			return err
		}
	}
	for pause := 50 * time.Millisecond; ; pause = min(4*pause, pulseInterval) {
		if _, err := to.Write([]byte{'.'}); err != nil {
			return nil //nolint:nilerr // The session has ended.
		}
		timer := time.NewTimer(pause)
		select {
		case <-stopping:
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// pour writes content until it has to stop, and reports whether that was all of it.
func pour(to io.Writer, content io.Reader, stopping <-chan struct{}) (complete bool, err error) {
	buffer := make([]byte, 32*1024)
	for {
		n, err := content.Read(buffer)
		select {
		case <-stopping:
			return false, nil
		default:
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return false, nil //nolint:nilerr // The session has ended.
		}
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return false, &contentError{err}
		}
	}
}

// contentError is what is to be sent and cannot be read.
type contentError struct{ err error }

func (e *contentError) Error() string { return fmt.Sprintf("reading what is sent: %v", e.err) }
func (e *contentError) Unwrap() error { return e.err }

// gate is a writer that nothing passes any more once it is shut.
type gate struct {
	mu sync.Mutex
	to io.Writer
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.to.Write(p)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to = io.Discard
}

// forward copies a stream of the host and tells of each piece. A writer that refuses
// does not hold the host up.
func forward(to io.Writer, from io.Reader, heard chan<- struct{}) {
	buffer := make([]byte, 32*1024)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			_, _ = to.Write(buffer[:n])
			select {
			case heard <- struct{}{}:
			default:
			}
		}
		if err != nil {
			return
		}
	}
}

// stop waits until the input has ended, and the host has killed what ran for it. An input
// that is stuck ends with the channel; nobody then hears of the killing.
func stop(channel ssh.Channel, fed, closed <-chan struct{}) {
	timer := time.NewTimer(feedPatience)
	defer timer.Stop()
	select {
	case <-fed:
	case <-closed:
	case <-timer.C:
		_ = channel.Close()
	}
	timer.Reset(killPatience)
	select {
	case <-closed:
	case <-timer.C:
	}
}

// drain waits for the end of the streams, until nothing has come for a while, or until what comes has no end.
func drain(streams *sync.WaitGroup, heard <-chan struct{}) {
	drained := make(chan struct{})
	go func() {
		streams.Wait()
		close(drained)
	}()
	timer, limit := time.NewTimer(drainPatience), time.NewTimer(drainLimit)
	defer timer.Stop()
	defer limit.Stop()
	for {
		select {
		case <-drained:
			return
		case <-limit.C:
			return
		case <-heard:
			timer.Reset(drainPatience)
		case <-timer.C:
			return
		}
	}
}

// exitStatus reads how a command ended, by a signal as a shell tells it.
func exitStatus(request *ssh.Request) (int, bool) {
	switch request.Type {
	case "exit-status":
		var exited struct{ Status uint32 }
		if ssh.Unmarshal(request.Payload, &exited) == nil {
			return int(exited.Status), true
		}
	case "exit-signal":
		var killed struct {
			Signal         string
			Core           bool
			Message, Langs string
		}
		if ssh.Unmarshal(request.Payload, &killed) == nil {
			return 128 + signals[killed.Signal], true
		}
	}
	return 0, false
}

// signals are the numbers of those that RFC 4254 names, on Linux.
var signals = map[string]int{
	"HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "ABRT": 6, "FPE": 8, "KILL": 9, "USR1": 10, "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15,
}

// readAll returns a reader of known length for one of which only the end is known.
func readAll(r io.Reader) (io.Reader, int64, error) {
	if r == nil {
		return nil, 0, nil
	}
	if sized, ok := r.(interface{ Len() int }); ok {
		return r, int64(sized.Len()), nil
	}
	content, err := io.ReadAll(r)
	return bytes.NewReader(content), int64(len(content)), err
}
