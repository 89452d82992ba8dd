package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// attemptOf is a run of a unit that ended with the outcomes of its tests.
func attemptOf(pkg, test string, outcomes map[string]string) *attempt {
	a := &attempt{unit: unit{pkg: &testPackage{path: pkg}, test: test}, reader: newReader()}
	for name, outcome := range outcomes {
		a.reader.results[name] = result{outcome: outcome}
		if outcome == failed {
			a.err = errors.New("exit status 1")
		}
	}
	return a
}

func TestSession_flakes(t *testing.T) {
	s := &session{}
	s.done = []*attempt{
		attemptOf("p", "", map[string]string{"TestA": failed, "TestA/x": failed, "TestB": passed, "TestC": failed}),
		attemptOf("p", "TestA", map[string]string{"TestA": passed, "TestA/x": passed}),
		attemptOf("p", "TestC", map[string]string{"TestC": failed}),
	}
	if got := strings.Join(s.flakes(), ","); got != "p TestA/x" {
		t.Errorf("flakes: %s", got)
	}
	again := s.failedUnits()
	var names []string
	for _, a := range again {
		names = append(names, a.test)
	}
	if len(again) != 3 {
		t.Errorf("units to be run again: %v", names)
	}
}

// A process that ends without the failure of a test must not be lost, unless it passed when it was run again.
func TestSession_lost(t *testing.T) {
	panicked := attemptOf("p", "TestA", map[string]string{"TestA": passed})
	panicked.err = errors.New("exit status 2")
	s := &session{done: []*attempt{panicked}}
	if got := s.lost(); len(got) != 1 || !strings.Contains(got[0], "p TestA: exit status 2") {
		t.Errorf("lost: %v", got)
	}
	s.done = append(s.done, attemptOf("p", "TestA", map[string]string{"TestA": passed}))
	if got := s.lost(); len(got) != 0 {
		t.Errorf("lost after it passed: %v", got)
	}
}

func TestSession_conclude(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	flaky := []*attempt{attemptOf("p", "TestA", map[string]string{"TestA": failed}), attemptOf("p", "TestA", map[string]string{"TestA": passed})}
	var many []*attempt
	for i := range flakesAtMost + 1 {
		for _, outcome := range []string{failed, passed} {
			many = append(many, attemptOf("p", "Test"+itoa(i), map[string]string{"Test" + itoa(i): outcome}))
		}
	}
	for name, c := range map[string]struct {
		done   []*attempt
		broken []string
		want   int
	}{
		"passes":        {done: flaky[1:], want: 0},
		"fails":         {done: flaky[:1], want: exitFailed},
		"few flakes":    {done: many[2:], want: 0},
		"many flakes":   {done: many, want: exitFailed},
		"did not build": {done: flaky[1:], broken: []string{"q"}, want: exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{options: options{root: t.TempDir(), report: "report"}, done: c.done, broken: c.broken, sampler: &sampler{}}
			s.known.tests = map[string]map[string]time.Duration{}
			got, err := s.conclude()
			if err != nil || got != c.want {
				t.Errorf("exit code %d and %v, want %d", got, err, c.want)
			}
		})
	}
}

// Tests that take long run alone, and no test runs twice or not at all.
func TestSession_units(t *testing.T) {
	long, short := 2*alone, alone/2
	s := &session{}
	s.known.tests = map[string]map[string]time.Duration{"p": {"TestA": long, "TestB": short, "TestC": long}}
	p := &testPackage{path: "p"}
	args := func(u unit) string {
		return strings.Join((&attempt{unit: u}).args(s.options)[4:], " ")
	}
	var got []string
	for _, u := range s.units(p) {
		got = append(got, args(u))
	}
	if want := "-test.run=^TestA$,-test.run=^TestC$,-test.skip=^(TestA|TestC)$"; strings.Join(got, ",") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ","), want)
	}
	s.match = regexp.MustCompile("^Test[AB]$")
	got = nil
	for _, u := range s.units(p) {
		got = append(got, args(u))
	}
	if want := "-test.run=^TestA$,-test.run=^Test[AB]$ -test.skip=^(TestA|TestC)$"; strings.Join(got, ",") != want {
		t.Errorf("with a pattern: got %s, want %s", strings.Join(got, ","), want)
	}
	if got := args(s.units(&testPackage{path: "q"})[0]); got != "-test.run=^Test[AB]$" {
		t.Errorf("of a package that was not timed: %s", got)
	}
}

func TestLoadFiles(t *testing.T) {
	dir := t.TempDir()
	durations := filepath.Join(dir, "durations")
	write(t, durations, "# a comment\n\n   30 p TestA\n 2.5 p TestB\n")
	t.Setenv("XDG_CACHE_HOME", dir)
	k, err := loadKnown(durations, "all")
	if err != nil || k.tests["p"]["TestA"] != 30*time.Second || k.total("p") != 33500*time.Millisecond || k.total("q") != unknownTest {
		t.Errorf("durations: %+v, %v", k, err)
	}
	if err := remember("all", 90*time.Second); err != nil {
		t.Fatal(err)
	}
	if k, err = loadKnown(durations, "all"); err != nil || k.last != 90*time.Second {
		t.Errorf("remembered %v, %v", k.last, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What takes long is compiled first, what runs under the race detector last and apart from the others.
func TestSession_groups(t *testing.T) {
	root := module{dir: "."}
	s := &session{options: options{modules: []module{root, {dir: "tools"}}}}
	s.known.tests = map[string]map[string]time.Duration{"x/long": {"TestA": time.Minute}, "x/raced": {"TestB": time.Hour}}
	s.packages = []*testPackage{
		{path: "x/raced", module: root, race: true}, {path: "x/short", module: root}, {path: "y/short", module: root},
		{path: "x/long", module: root}, {path: "tools/a", module: module{dir: "tools"}},
	}
	var got []string
	for _, g := range s.groups() {
		var paths []string
		for _, p := range g.packages {
			paths = append(paths, p.path)
		}
		got = append(got, strings.Join(paths, "+"))
	}
	if want := "x/long x/short y/short tools/a x/raced"; strings.Join(got, " ") != want {
		t.Errorf("groups: %v, want %s", got, want)
	}
}
