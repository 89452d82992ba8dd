// Package proxy holds the proxies in front of the API server: one that fails on command, one that asks for a password,
// and one that picks the log of a pod.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Mode is a way to fail.
type Mode string

// The ways to fail.
const (
	// ModeClear forwards everything.
	ModeClear Mode = "clear"
	// ModeCut resets every connection, present and new.
	ModeCut Mode = "cut"
	// ModeDelay holds every chunk of bytes back for a while, in both directions.
	ModeDelay Mode = "delay"
	// ModeDropAfter resets each connection once a number of reads has been forwarded on it.
	ModeDropAfter Mode = "drop-after"
)

// Fault is what the proxy does to connections.
type Fault struct {
	Mode  Mode
	Delay time.Duration
	Reads int
}

// ParseFault reads "cut", "clear", "delay 300ms" or "drop-after 10".
func ParseFault(words []string) (Fault, error) {
	if len(words) == 0 {
		return Fault{}, errors.New("no fault given: one of cut, delay <duration>, drop-after <reads>, clear")
	}
	mode, arguments := Mode(words[0]), words[1:]
	switch mode {
	case ModeClear, ModeCut:
		if len(arguments) != 0 {
			return Fault{}, fmt.Errorf("%s takes no argument", mode)
		}
		return Fault{Mode: mode}, nil
	case ModeDelay:
		if len(arguments) != 1 {
			return Fault{}, errors.New("delay takes a duration, such as 300ms")
		}
		delay, err := time.ParseDuration(arguments[0])
		if err != nil || delay <= 0 {
			return Fault{}, fmt.Errorf("%q is not a positive duration, such as 300ms", arguments[0])
		}
		return Fault{Mode: mode, Delay: delay}, nil
	case ModeDropAfter:
		if len(arguments) != 1 {
			return Fault{}, errors.New("drop-after takes a number of reads")
		}
		reads, err := strconv.Atoi(arguments[0])
		if err != nil || reads < 0 {
			return Fault{}, fmt.Errorf("%q is not a number of reads", arguments[0])
		}
		return Fault{Mode: mode, Reads: reads}, nil
	default:
		return Fault{}, fmt.Errorf("unknown fault %q: one of cut, delay <duration>, drop-after <reads>, clear", mode)
	}
}

// String is the form ParseFault reads.
func (f Fault) String() string {
	switch f.Mode {
	case ModeDelay:
		return fmt.Sprintf("%s %s", f.Mode, f.Delay)
	case ModeDropAfter:
		return fmt.Sprintf("%s %d", f.Mode, f.Reads)
	case ModeClear, ModeCut:
	}
	return string(f.Mode)
}

// Faulty forwards TCP connections with the faults that are set.
type Faulty struct {
	target string
	log    *slog.Logger

	mu    sync.Mutex
	fault Fault
	// changed counts the calls of Set: reads are counted from the last one.
	changed int
	open    map[*link]struct{}
}

// NewFaulty makes a proxy to the address target that forwards everything until Set is called.
func NewFaulty(target string, log *slog.Logger) *Faulty {
	return &Faulty{target: target, log: log, fault: Fault{Mode: ModeClear}, open: map[*link]struct{}{}}
}

// Set changes what the proxy does, for present connections too.
func (p *Faulty) Set(fault Fault) {
	p.mu.Lock()
	p.fault = fault
	p.changed++
	var cut []*link
	if fault.Mode == ModeCut {
		cut = slices.Collect(maps.Keys(p.open))
	}
	p.mu.Unlock()
	for _, l := range cut {
		l.reset()
	}
}

// Fault is what the proxy does now.
func (p *Faulty) Fault() Fault {
	fault, _ := p.current()
	return fault
}

func (p *Faulty) current() (Fault, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault, p.changed
}

// Serve forwards the connections of a listener until ctx ends.
func (p *Faulty) Serve(ctx context.Context, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	var links sync.WaitGroup
	defer links.Wait()
	for {
		client, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // The listener was closed because ctx ended.
			}
			return fmt.Errorf("accepting a connection on %s: %w", listener.Addr(), err)
		}
		links.Go(func() { p.forward(ctx, client) })
	}
}

func (p *Faulty) forward(ctx context.Context, client net.Conn) {
	l := &link{client: client}
	if !p.register(l) {
		l.reset()
		return
	}
	defer p.forget(l)
	defer l.close()

	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", p.target)
	if err != nil {
		p.log.WarnContext(ctx, "the server cannot be reached", "target", p.target, "error", err)
		l.reset()
		return
	}
	if !l.connect(server) {
		return
	}
	stop := context.AfterFunc(ctx, l.reset)
	defer stop()

	var directions sync.WaitGroup
	directions.Go(func() { p.copy(ctx, l, client, server) })
	directions.Go(func() { p.copy(ctx, l, server, client) })
	directions.Wait()
}

// register refuses a connection while everything is cut, under the lock that Set takes: no connection slips in between.
func (p *Faulty) register(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault.Mode == ModeCut {
		return false
	}
	p.open[l] = struct{}{}
	return true
}

func (p *Faulty) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, l)
}

func (p *Faulty) copy(ctx context.Context, l *link, from, to net.Conn) {
	buffer := make([]byte, 32*1024)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !p.pass(ctx, l, to, buffer[:n]) {
			l.reset()
			return
		}
		if errors.Is(err, io.EOF) {
			l.closeWrite(to)
			return
		}
		if err != nil {
			l.reset()
			return
		}
	}
}

// pass hands one read on, subject to the fault of the moment.
func (p *Faulty) pass(ctx context.Context, l *link, to net.Conn, data []byte) bool {
	fault, changed := p.current()
	switch fault.Mode {
	case ModeCut:
		return false
	case ModeDelay:
		select {
		case <-ctx.Done():
			return false
		case <-time.After(fault.Delay):
		}
	case ModeDropAfter:
		if l.count(changed) > fault.Reads {
			return false
		}
	case ModeClear:
	}
	_, err := to.Write(data)
	return err == nil
}

// link is a connection of a client together with the one to the server that serves it.
type link struct {
	client net.Conn

	mu     sync.Mutex
	server net.Conn
	closed bool
	reads  int
	since  int
}

func (l *link) connect(server net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = server.Close()
		return false
	}
	l.server = server
	return true
}

// count is the number of reads since the fault was set, this one included.
func (l *link) count(changed int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since != changed {
		l.since, l.reads = changed, 0
	}
	l.reads++
	return l.reads
}

func (l *link) closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	l.reset()
}

// close ends both sides in order: what was written still arrives.
func (l *link) close() { l.end(false) }

// reset ends both sides at once. Without lingering the client sees a reset, as from a network that broke, and not the
// orderly end that it might take for the end of the answer.
func (l *link) reset() { l.end(true) }

func (l *link) end(abort bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	for _, conn := range []net.Conn{l.client, l.server} {
		if conn == nil {
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok && abort {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}
