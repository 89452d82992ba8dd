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
)

const (
	// killPatience is how long a command that was told to end may take: it is asked first
	// and killed a second later.
	killPatience = 5 * time.Second
	// drainPatience is how long a command's output stays open without a word after its
	// end: what it left running in the background holds it open for ever.
	drainPatience = 2 * time.Second
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
var errNoStatus = errors.New("the host ended the session without telling the exit status")

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

	ended := make(chan struct{})
	heard := make(chan struct{}, 1)
	var streams sync.WaitGroup
	stdout, stderr := &gate{to: e.stdout}, &gate{to: e.stderr}
	defer stdout.shut()
	defer stderr.shut()
	streams.Go(func() { forward(stdout, channel, heard) })
	streams.Go(func() { forward(stderr, channel.Stderr(), heard) })
	failed := make(chan error, 1)
	go func() {
		if err := feed(channel, e, ended); err != nil {
			failed <- err
		}
	}()
	status := make(chan int, 1)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for request := range requests {
			if code, ok := exitStatus(request); ok {
				status <- code
			}
			if request.WantReply {
				_ = request.Reply(false, nil)
			}
		}
	}()
	defer close(ended)

	code, err := 0, error(nil)
	select {
	case code = <-status:
	case <-closed:
		select {
		case code = <-status:
		default:
			err = errNoStatus
		}
	case err = <-failed:
		stop(channel, closed)
	case <-ctx.Done():
		err = context.Cause(ctx)
		stop(channel, closed)
	}
	// The end of the streams comes after the status, and before the end of the channel.
	drain(&streams, heard)
	if errors.Is(err, errNoStatus) {
		err = c.explain(err)
	}
	return code, err
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
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
}

// openOnce tries to begin a session. What a silent host leaves open closes with the
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

// explain puts the reason for which the connection ended in the place of what a session
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

// feed writes the input of a command and then signs of life, until it has ended.
// The first ones come fast: what reads the content may take one of them with it.
func feed(to io.Writer, e execution, ended <-chan struct{}) error {
	if _, err := io.WriteString(to, e.begin); err != nil {
		return nil //nolint:nilerr // The session ends and says more.
	}
	if e.content != nil {
		from := &source{Reader: e.content}
		if _, err := io.Copy(to, from); err != nil {
			if from.err == nil {
				return nil
			}
			return &contentError{from.err}
		}
	}
	for pause := 50 * time.Millisecond; ; pause = min(4*pause, pulseInterval) {
		if _, err := to.Write([]byte{'.'}); err != nil {
			return nil //nolint:nilerr // The session ends and says more.
		}
		timer := time.NewTimer(pause)
		select {
		case <-ended:
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// contentError is what is to be sent and cannot be read.
type contentError struct{ err error }

func (e *contentError) Error() string { return fmt.Sprintf("reading what is sent: %v", e.err) }
func (e *contentError) Unwrap() error { return e.err }

// source remembers why it could not be read, which is not why it could not be written.
type source struct {
	io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

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

// stop ends the input and waits until the host has killed what ran.
func stop(channel ssh.Channel, closed <-chan struct{}) {
	_ = channel.CloseWrite()
	timer := time.NewTimer(killPatience)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
}

// drain waits for the end of the streams, or until nothing has come for a while.
func drain(streams *sync.WaitGroup, heard <-chan struct{}) {
	drained := make(chan struct{})
	go func() {
		streams.Wait()
		close(drained)
	}()
	timer := time.NewTimer(drainPatience)
	defer timer.Stop()
	for {
		select {
		case <-drained:
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
