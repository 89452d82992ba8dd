package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const (
	// parentPeriod is how often a process looks whether the one that has started it is there.
	parentPeriod = time.Second
	// answerTime is how long the process stays behind its last call: an answer may be on its way to a client that does not end it.
	answerTime = time.Second
)

// lifetime is how long the process serves. Terraform ends the provider that it has started. A process that no Terraform ends does so by
// itself, at a SIGTERM or when its Terraform is gone, once its calls have been interrupted and are over.
type lifetime struct {
	// terminated ends with the first SIGTERM, or when the parent is gone. It interrupts all calls.
	terminated context.Context
	interrupt  context.CancelFunc
	// end ends the process.
	end func()

	mu sync.Mutex
	// client says that a Terraform has called which will end the process; none does of one that a person debugs, and of an orphan.
	client, alone bool
	// running are the calls that have not been answered.
	running int
}

func newLifetime(ctx context.Context, alone bool, end func()) *lifetime {
	l := &lifetime{alone: alone, end: end}
	l.terminated, l.interrupt = context.WithCancel(ctx)
	return l
}

// called notes that a Terraform has found the process.
func (l *lifetime) called() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client = !l.alone
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

// orphaned notes that no Terraform will end the process any more.
func (l *lifetime) orphaned() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client, l.alone = false, true
}

// endWhenIdle ends the process when no Terraform does and no call runs.
func (l *lifetime) endWhenIdle() {
	l.mu.Lock()
	idle := !l.client && l.running == 0
	l.mu.Unlock()
	if idle {
		l.end()
	}
}

// follow waits for a SIGTERM and for the end of the parent. A second SIGTERM ends the process at once, as a second Ctrl-C does with Terraform.
func (l *lifetime) follow(parent func() int) {
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGTERM)
	begun := parent()
	go func() {
		look := time.NewTicker(parentPeriod)
		for {
			select {
			case <-received:
				signal.Stop(received)
			case <-look.C:
				if parent() == begun {
					continue
				}
				look.Stop()
				l.orphaned()
			}
			l.interrupt()
			l.endWhenIdle()
		}
	}()
}
