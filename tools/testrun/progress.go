package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func (s *session) announceStart() {
	fmt.Printf("== %d packages with tests\n", len(s.packages))
	if s.announce != "" {
		fmt.Println(strings.TrimRight(s.announce, "\n"))
	}
}

// minutes is a duration as people say it.
func minutes(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
}

// slowUnit is how long a test takes that gets a line of its own.
const slowUnit = time.Minute

// show prints what became of a unit: the output of what failed, and a line for each package that is through.
func (s *session) show(a *attempt) {
	if a.err != nil {
		s.showFailure(a)
	} else if a.test != "" && a.took > slowUnit {
		fmt.Printf("slow   %s %s  %s\n", short(a.pkg.path), a.test, minutes(a.took))
	}
	if s.open[a.pkg.path] > 0 {
		return
	}
	count := s.countPackage(a.pkg.path)
	word := "ok    "
	if count[failed] > 0 {
		word = "FAILED"
	}
	s.finished++
	fmt.Printf("%s %s  %d tests%s\n", word, short(a.pkg.path), count[passed]+count[failed]+count[skipped], skips(count[skipped]))
}

func skips(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them skipped", n)
}

// short is the path of a package inside the project.
func short(path string) string {
	_, rest, found := strings.Cut(path, "terraform-provider-vnf/")
	if !found {
		return path
	}
	return rest
}

func (s *session) showFailure(a *attempt) {
	failures := a.reader.failures()
	slices.Sort(failures)
	for _, name := range failures {
		fmt.Printf("FAIL  %s %s (%s)\n", short(a.pkg.path), name, minutes(a.took))
		if out := a.reader.output[name]; out != nil {
			fmt.Print(indent(out.String()))
		}
	}
	if reason := a.failure(); reason != "" {
		fmt.Printf("FAIL  %s\n", reason)
	}
	if len(failures) == 0 || a.err.Error() != "exit status 1" {
		for _, out := range a.reader.output {
			fmt.Print(indent(lastLines(out.String(), 60)))
		}
	}
}

func indent(text string) string {
	if text == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}

func lastLines(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// progress says now and then how far the run is.
func (s *session) progress() {
	if time.Since(s.printed) < progressEvery {
		return
	}
	s.printed = time.Now()
	tests := 0
	for _, a := range s.done {
		tests += len(a.reader.results)
	}
	waiting := 0
	var longest *attempt
	for _, a := range s.running {
		if a.waiting() {
			waiting++
		}
		if longest == nil || a.began.Before(longest.began) {
			longest = a
		}
	}
	line := fmt.Sprintf("-- %s: %d of %d packages, %d tests; %d running (%d wait for another), %d to come",
		minutes(time.Since(s.began)), s.finished, len(s.packages), tests, len(s.running), waiting, len(s.pending))
	if s.compiling > 0 {
		line += fmt.Sprintf(", %d groups to compile", s.compiling)
	}
	line += s.busySince()
	if longest != nil {
		line += fmt.Sprintf("; longest %s %s", longest.label(), minutes(time.Since(longest.began)))
	}
	fmt.Println(line)
}

// busySince says how busy the processors were since the last line.
func (s *session) busySince() string {
	all, busy := s.sampler.all-s.printedAll, s.sampler.busy-s.printedBusy
	s.printedAll, s.printedBusy = s.sampler.all, s.sampler.busy
	if all <= 0 {
		return ""
	}
	return fmt.Sprintf("; processors busy for %d %%", 100*busy/all)
}

func (a *attempt) label() string {
	if a.test != "" {
		return a.test
	}
	return short(a.pkg.path)
}

func (s *session) countPackage(path string) map[string]int {
	count := map[string]int{}
	for name, outcome := range s.outcomes() {
		if strings.HasPrefix(name, path+" ") {
			count[outcome]++
		}
	}
	return count
}
