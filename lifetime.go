package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// answerTime is how long the process stays after its last call: the answer may still be on its way.
const answerTime = time.Second

// lifetime interrupts all calls at the first SIGTERM. Terraform then ends the provider that it has
// started. A debugged provider serves several runs, so it ends itself once all calls are answered.
type lifetime struct {
	// terminated ends with the first SIGTERM.
	terminated context.Context
	interrupt  context.CancelFunc
	// end ends the process; nil if Terraform does.
	end func()

	mu sync.Mutex
	// running is the number of unanswered calls.
	running int
}

func newLifetime(ctx context.Context, end func()) *lifetime {
	l := &lifetime{end: end}
	l.terminated, l.interrupt = context.WithCancel(ctx)
	return l
}

// enter begins a call, leave ends it.
func (l *lifetime) enter() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running++
}

func (l *lifetime) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running--
	if l.terminated.Err() != nil {
		time.AfterFunc(answerTime, l.endWhenIdle)
	}
}

// endWhenIdle ends the process unless Terraform does or a call is running.
func (l *lifetime) endWhenIdle() {
	l.mu.Lock()
	idle := l.running == 0
	l.mu.Unlock()
	if idle && l.end != nil {
		l.end()
	}
}

// follow waits for a SIGTERM. A second one ends the process at once, like a second Ctrl-C in Terraform.
func (l *lifetime) follow() {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGTERM)
	go func() {
		<-received
		signal.Stop(received)
		l.interrupt()
		l.endWhenIdle()
	}()
}
