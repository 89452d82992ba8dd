package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// slowest is how many tests the report lists.
const slowest = 40

// headLines is how much of the report is printed at the end of a run.
const headLines = 10

// outcomes are the ends of all tests by "package test": that of the last time where one was run again.
func (s *session) outcomes() map[string]string {
	out := map[string]string{}
	for _, a := range s.done {
		for name, got := range a.reader.results {
			out[a.pkg.path+" "+name] = got.outcome
		}
	}
	return out
}

// flakes are the tests that failed and passed when they were run again.
func (s *session) flakes() []string {
	last := s.outcomes()
	found := map[string]bool{}
	for _, a := range s.done {
		for _, name := range a.reader.failures() {
			if key := a.pkg.path + " " + name; last[key] == passed {
				found[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// conclude writes the report and prints what matters of it; the last line is the count of tests.
func (s *session) conclude() (int, error) {
	took := time.Since(s.began)
	report := s.report(took)
	if err := s.write(report); err != nil {
		return exitFailed, err
	}
	fmt.Printf("\n== report, whole in %s.txt\n", s.options.report)
	lines := strings.SplitAfter(report, "\n")
	fmt.Print(strings.Join(lines[:min(headLines, len(lines))], ""))
	fmt.Println()

	count := map[string]int{}
	for _, outcome := range s.outcomes() {
		count[outcome]++
	}
	for _, path := range s.broken {
		fmt.Println("FAIL  does not build:", short(path))
	}
	lost := s.lost()
	for _, reason := range lost {
		fmt.Println("FAIL ", reason)
	}
	count[failed] += len(s.broken) + len(lost)
	flakes := s.flakes()
	for _, name := range flakes {
		fmt.Println("flaky, passed when run again:", name)
	}
	status := 0
	if count[failed] > 0 || len(flakes) > flakesAtMost {
		status = exitFailed
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", count[passed], count[failed], count[skipped])
	return status, nil
}

// lost are the units whose process failed, the last time, without a test that did.
func (s *session) lost() []string {
	last := map[string]*attempt{}
	for _, a := range s.done {
		last[a.name()] = a
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(last)) {
		if reason := last[name].failure(); reason != "" {
			out = append(out, reason)
		}
	}
	return out
}

func (s *session) report(took time.Duration) string {
	var b strings.Builder
	processors := runtime.NumCPU()
	fmt.Fprintf(&b, "%s with %d processors", minutes(took), processors)
	if s.sampler.all > 0 {
		fmt.Fprintf(&b, ", busy for %d %% of the time: %.0f s of processor time", 100*s.sampler.busy/s.sampler.all, s.sampler.busy.Seconds())
	}
	b.WriteString("\n")
	s.writeKinds(&b)
	s.writeWaits(&b)
	total := func(a *attempt) time.Duration { return a.own + a.children + a.services }
	s.writeSlowest(&b, "by wall time", func(a *attempt) time.Duration { return a.took })
	s.writeSlowest(&b, "by processor time, with its share of the labs' services", total)
	return b.String()
}

// writeKinds says which programs used the processors.
func (s *session) writeKinds(b *strings.Builder) {
	var own, children time.Duration
	for _, a := range s.done {
		own += a.own
		children += a.children
	}
	fmt.Fprintf(b, "  %6.0f s  test binaries, with the provider in them\n", own.Seconds())
	fmt.Fprintf(b, "  %6.0f s  what tests started: terraform, kubectl, ansible, providers\n", children.Seconds())
	for _, kind := range []string{kindKubernetes, kindOpenStack, kindCompilers, kindTests, kindOther} {
		programs := s.sampler.programs[kind]
		names := slices.SortedFunc(maps.Keys(programs), func(x, y string) int { return int(programs[y] - programs[x]) })
		var sum time.Duration
		for _, d := range programs {
			sum += d
		}
		var top []string
		for _, name := range names[:min(8, len(names))] {
			top = append(top, fmt.Sprintf("%s %.0f", name, programs[name].Seconds()))
		}
		text := map[string]string{
			kindKubernetes: "lab of Kubernetes", kindOpenStack: "lab of OpenStack", kindCompilers: "compilers and linkers",
			kindTests: "long-lived programs seen below tests, labs of their own among them", kindOther: "other programs",
		}[kind]
		fmt.Fprintf(b, "  %6.0f s  %s: %s\n", sum.Seconds(), text, strings.Join(top, ", "))
	}
}

// writeWaits says what tests waited for, in seconds of all tests together.
func (s *session) writeWaits(b *strings.Builder) {
	waits := map[string]time.Duration{}
	for _, a := range s.done {
		for what, d := range a.waits {
			waits["wait: "+what] += d
		}
		for program, d := range a.present {
			waits["ran: "+program] += d
		}
	}
	b.WriteString("\nseconds that tests waited, or had a program running, all tests together\n")
	names := slices.SortedFunc(maps.Keys(waits), func(x, y string) int { return int(waits[y] - waits[x]) })
	for _, name := range names[:min(25, len(names))] {
		fmt.Fprintf(b, "  %6.0f s  %s\n", waits[name].Seconds(), name)
	}
}

func (s *session) writeSlowest(b *strings.Builder, title string, by func(*attempt) time.Duration) {
	all := slices.SortedFunc(slices.Values(s.done), func(x, y *attempt) int { return int(by(y) - by(x)) })
	fmt.Fprintf(b, "\nthe slowest tests %s\n    wall   processor = own + children + labs\n", title)
	for _, a := range all[:min(slowest, len(all))] {
		fmt.Fprintf(b, "  %6.0f %8.0f s = %4.0f + %4.0f + %4.0f  %s %s\n", a.took.Seconds(),
			(a.own + a.children + a.services).Seconds(), a.own.Seconds(), a.children.Seconds(), a.services.Seconds(), short(a.pkg.path), a.test)
	}
}

// record is what the report file holds of one unit.
type record struct {
	Package  string             `json:"package"`
	Test     string             `json:"test,omitempty"`
	Failed   bool               `json:"failed,omitempty"`
	Start    float64            `json:"start"`
	Wall     float64            `json:"wall"`
	Own      float64            `json:"own"`
	Children float64            `json:"children"`
	Services float64            `json:"services"`
	Waits    map[string]float64 `json:"waits,omitempty"`
	Present  map[string]float64 `json:"present,omitempty"`
	Tests    map[string]string  `json:"tests"`
}

func (s *session) write(report string) error {
	path := s.path(s.options.report)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(path+".txt", []byte(report), 0o600); err != nil {
		return err
	}
	var records []record
	for _, a := range s.done {
		tests := map[string]string{}
		for name, got := range a.reader.results {
			tests[name] = fmt.Sprintf("%s %.2f", got.outcome, got.elapsed.Seconds())
		}
		records = append(records, record{
			Package: a.pkg.path, Test: a.test, Failed: a.err != nil, Start: a.began.Sub(s.began).Seconds(), Wall: a.took.Seconds(),
			Own: a.own.Seconds(), Children: a.children.Seconds(), Services: a.services.Seconds(),
			Waits: seconds(a.waits), Present: seconds(a.present), Tests: tests,
		})
	}
	data, err := json.MarshalIndent(records, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path+".json", append(data, '\n'), 0o600)
}

func seconds(in map[string]time.Duration) map[string]float64 {
	out := map[string]float64{}
	for key, d := range in {
		out[key] = d.Seconds()
	}
	return out
}
