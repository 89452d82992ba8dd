package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// session is one run of all tests.
type session struct {
	options
	sampler *sampler
	began   time.Time
	folder  string

	packages  []*testPackage
	pending   []unit
	compiling int
	running   []*attempt
	done      []*attempt
	// open counts, by package, the units that have not ended.
	open     map[string]int
	finished int
	broken   []string

	lastStart time.Time
	printed   time.Time
	// printedAll and printedBusy are what the processors had spent at the last line of progress.
	printedAll, printedBusy time.Duration
}

// The limits of what runs at a time. Units that wait for another test do not count.
const (
	// perProcessor units run for each processor at most: more of them end no earlier, and each takes longer.
	perProcessor = 4
	// spare units run beyond one for each processor without a look at how busy these are: each unit waits now and then, and short
	// ones have ended before a look shows that.
	spare = 1
	// idleEnough is the part of the processors' time that must be without work for a further unit to start.
	idleEnough = 0.06
	// startGap is the time between two starts beyond those: what starts shows what it needs only then.
	startGap = 2 * time.Second
	// memoryEnough bytes must be free for that.
	memoryEnough = 3 << 30
	// rerunAtMost units are run again when they failed: more failures are not flakes.
	rerunAtMost = 8
	// flakesAtMost tests may pass only then. They are named, and each is a fault to be found.
	flakesAtMost = 2
	// progressEvery is how often a line says how far the run is.
	progressEvery = 30 * time.Second
)

func itoa(n int) string { return strconv.Itoa(n) }

func newSession(ctx context.Context, o options) (*session, error) {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return nil, err
	}
	o.root = root
	s := &session{options: o, began: time.Now(), open: map[string]int{}}
	for _, m := range o.modules {
		packages, err := list(ctx, root, m)
		if err != nil {
			return nil, err
		}
		s.packages = append(s.packages, packages...)
	}
	// The name says whose it is: `lab sweep` removes it when this process was killed.
	if s.folder, err = os.MkdirTemp("", "vnf-test."+itoa(os.Getpid())+"."); err != nil {
		return nil, fmt.Errorf("making the folder of the tests: %w", err)
	}
	s.sampler = newSampler(o.labs, os.Getpid())
	return s, nil
}

func (s *session) close() { _ = os.RemoveAll(s.folder) }

// path is a path of the repository.
func (s *session) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.root, name)
}

// run compiles and runs everything, and then once more what failed.
func (s *session) run(ctx context.Context) error {
	s.announceStart()
	compiled := make(chan compilation)
	s.compiling = s.compileAll(ctx, compiled)
	s.loop(ctx, compiled)
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
	failures := s.failedUnits()
	if len(failures) == 0 || len(failures) > rerunAtMost {
		return nil
	}
	fmt.Printf("== once more: %d that failed\n", len(failures))
	for _, u := range failures {
		s.add(u)
	}
	s.loop(ctx, nil)
	return ctx.Err()
}

// failedUnits are those that failed, with only the top-level tests that failed of those that are whole packages.
func (s *session) failedUnits() []unit {
	var out []unit
	for _, a := range s.done {
		if a.err == nil {
			continue
		}
		tops := map[string]bool{}
		for _, name := range a.reader.failures() {
			tops[top(name)] = true
		}
		if a.test != "" || len(tops) == 0 {
			out = append(out, a.unit)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(tops)) {
			out = append(out, unit{pkg: a.pkg, test: name})
		}
	}
	return out
}

// compilation is a group of packages that is compiled, with the units in them.
type compilation struct {
	packages []*testPackage
	units    []unit
	err      error
}

// group is what one call of `go test -c` compiles, and the folder of its binaries.
type group struct {
	folder   string
	packages []*testPackage
}

// groups parts the packages of all modules. Acceptance tests come first, so that these run while the others are compiled.
func (s *session) groups() []group {
	var out []group
	for _, acceptance := range []bool{true, false} {
		for _, m := range s.modules {
			var packages []*testPackage
			for _, p := range s.packages {
				if p.module.dir == m.dir && p.acceptance == acceptance {
					packages = append(packages, p)
				}
			}
			for number, batch := range batches(packages) {
				name := fmt.Sprintf("%s-%t-%d", strings.ReplaceAll(strings.Trim(m.dir, "./"), "/", "-"), acceptance, number)
				out = append(out, group{folder: filepath.Join(s.path(s.binaries), name), packages: batch})
			}
		}
	}
	return out
}

// compileAll compiles the packages group by group, and returns how many groups there are.
func (s *session) compileAll(ctx context.Context, out chan<- compilation) int {
	groups := s.groups()
	go func() {
		for _, g := range groups {
			c := compilation{packages: g.packages}
			c.err = compile(ctx, g.packages, g.folder)
			for _, p := range g.packages {
				if c.err != nil {
					break
				}
				var units []unit
				units, c.err = s.units(ctx, p)
				c.units = append(c.units, units...)
			}
			select {
			case out <- c:
			case <-ctx.Done():
				return
			}
		}
	}()
	return len(groups)
}

// loop runs units until there is nothing left to compile or to run.
func (s *session) loop(ctx context.Context, compiled <-chan compilation) {
	ended := make(chan *attempt)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for s.compiling > 0 || len(s.pending) > 0 || len(s.running) > 0 {
		for ctx.Err() == nil && len(s.pending) > 0 && s.room() {
			s.start(ctx, ended)
		}
		interrupted := ctx.Done()
		if ctx.Err() != nil {
			if len(s.running) == 0 {
				return
			}
			interrupted = nil
		}
		select {
		case c := <-compiled:
			s.take(c)
		case a := <-ended:
			s.end(a)
		case <-ticker.C:
			s.sampler.sample(s.running)
			s.progress()
		case <-interrupted:
			s.pending = nil
			s.compiling = 0
		}
	}
	s.sampler.sample(s.running)
}

// take in what was compiled.
func (s *session) take(c compilation) {
	s.compiling--
	if c.err != nil {
		for _, p := range c.packages {
			s.broken = append(s.broken, p.path)
		}
		fmt.Println(c.err)
		return
	}
	for _, u := range c.units {
		s.add(u)
	}
}

// add puts a unit among those that wait.
func (s *session) add(u unit) {
	s.open[u.pkg.path]++
	s.pending = append(s.pending, u)
	slices.SortStableFunc(s.pending, func(a, b unit) int { return a.order() - b.order() })
}

// room tells whether a further unit may start.
func (s *session) room() bool {
	active := 0
	for _, a := range s.running {
		if !a.waiting() {
			active++
		}
	}
	processors := runtime.NumCPU()
	switch {
	case active < processors+spare:
		return true
	case active >= perProcessor*processors || time.Since(s.lastStart) < startGap:
		return false
	}
	free := availableMemory()
	return s.sampler.idleNow() > idleEnough && (free == 0 || free > memoryEnough)
}

// start runs the first unit of those that wait.
func (s *session) start(ctx context.Context, ended chan<- *attempt) {
	u := s.pending[0]
	s.pending = s.pending[1:]
	number := len(s.done) + len(s.running) + 1
	a := &attempt{unit: u, number: number, dir: filepath.Join(s.folder, itoa(number)), began: time.Now(), reader: newReader()}
	s.running = append(s.running, a)
	s.lastStart = time.Now()
	go func() {
		a.run(ctx, s.options)
		ended <- a
	}()
}

func (s *session) end(a *attempt) {
	s.running = slices.DeleteFunc(s.running, func(other *attempt) bool { return other == a })
	a.account()
	s.done = append(s.done, a)
	s.open[a.pkg.path]--
	s.show(a)
}
