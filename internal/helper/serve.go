package helper

import (
	"bufio"
	"encoding/gob"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"
)

// The exit codes of a process that went past a limit.
const (
	exitTime   = 90
	exitMemory = 91
)

const (
	// maxStack is the depth of calls, in bytes: a template that includes itself ends there.
	maxStack = 64 << 20
	// watchEvery is how often a process looks at what it has taken.
	watchEvery = 5 * time.Millisecond
	// keptMemory is what a process may hold while it waits, in bytes.
	keptMemory = 64 << 20
)

// Serve answers calls until there is nobody left to ask, and ends the process, when it is a helper process for this
// function. Otherwise it returns.
func (f *Function[Q, A]) Serve() {
	if os.Getenv(environment) != f.name {
		return
	}
	// An interrupt of a terminal or of a runner reaches all processes, and only the parent knows whether to go on.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	debug.SetMaxStack(maxStack)
	answers := os.Stdout
	os.Stdout = nil // for libraries that print
	in, out := gob.NewDecoder(bufio.NewReader(os.Stdin)), gob.NewEncoder(answers)
	for {
		var (
			l Limits
			q Q
		)
		if in.Decode(&l) != nil || in.Decode(&q) != nil {
			os.Exit(0)
		}
		stop := l.watch()
		a := f.f(q)
		if err := out.Encode(&a); err != nil {
			_, _ = os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		stop()
		if held() > keptMemory {
			debug.FreeOSMemory()
		}
	}
}

// watch ends the process when it goes past a limit.
func (l Limits) watch() (stop func()) {
	until := processorTime() + l.CPU
	// The collector works harder before the limit is reached: what is over it is in use.
	debug.SetMemoryLimit(l.Memory - l.Memory/4)
	limitMemory(l.Memory)
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			switch {
			case processorTime() > until:
				os.Exit(exitTime)
			case held() > l.Memory:
				os.Exit(exitMemory)
			}
			select {
			case <-ticker.C:
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// held is the memory that the process has from the system, in bytes.
func held() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64() - samples[1].Value.Uint64()) //nolint:gosec // both are far below 1<<63
}
