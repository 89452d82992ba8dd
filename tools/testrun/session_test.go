package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
	var names []string
	for _, u := range s.failedUnits() {
		names = append(names, u.test)
	}
	if got := strings.Join(names, ","); got != "TestA,TestC,TestC" {
		t.Errorf("units to be run again: %s", got)
	}
}

// A process that ends without the failure of a test must not be lost.
func TestSession_lost(t *testing.T) {
	panicked := attemptOf("p", "TestA", map[string]string{"TestA": passed})
	panicked.err = errors.New("exit status 2")
	s := &session{done: []*attempt{panicked}}
	if got := s.lost(); len(got) != 1 || !strings.Contains(got[0], "p TestA: exit status 2") {
		t.Errorf("lost: %v", got)
	}
}

func TestSession_conclude(t *testing.T) {
	good := attemptOf("p", "TestA", map[string]string{"TestA": passed})
	for name, c := range map[string]struct {
		done   []*attempt
		broken []string
		want   int
	}{
		"passes":        {done: []*attempt{good}, want: 0},
		"a flake":       {done: []*attempt{attemptOf("p", "TestA", map[string]string{"TestA": failed}), good}, want: 0},
		"fails":         {done: []*attempt{good, attemptOf("p", "TestB", map[string]string{"TestB": failed})}, want: exitFailed},
		"did not build": {done: []*attempt{good}, broken: []string{"q"}, want: exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			s := &session{options: options{root: t.TempDir(), report: "report"}, done: c.done, broken: c.broken, sampler: &sampler{}}
			got, err := s.conclude()
			if err != nil || got != c.want {
				t.Errorf("exit code %d and %v, want %d", got, err, c.want)
			}
		})
	}
}

// Tests of a lab run alone, and no test runs twice or not at all.
func TestSession_units(t *testing.T) {
	const list = "TestAccA TestB TestAccC TestD BenchmarkE"
	binary := filepath.Join(t.TempDir(), "p.test")
	script := "#!/bin/sh\nfor name in " + list + "; do echo $name; done\n"
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil { //nolint:gosec // A program of the test.
		t.Fatal(err)
	}
	s := &session{}
	units, err := s.units(t.Context(), &testPackage{path: "p", binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range units {
		got = append(got, strings.Join((&attempt{unit: u}).args(s.options)[4:], " "))
	}
	if want := "-test.run=^TestAccA$,-test.run=^TestAccC$,-test.skip=^(TestAccA|TestAccC)$"; strings.Join(got, ",") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ","), want)
	}
}

// Clusters and stacks start first, single tests last.
func TestSession_order(t *testing.T) {
	s := &session{open: map[string]int{}}
	p := &testPackage{path: "p"}
	for _, name := range []string{"TestAccVIM_basic", "", "TestAccInstance_openStack"} {
		s.add(unit{pkg: p, test: name})
	}
	var got []string
	for _, u := range s.pending {
		got = append(got, u.test)
	}
	if want := "TestAccInstance_openStack,,TestAccVIM_basic"; strings.Join(got, ",") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ","), want)
	}
}

// Acceptance tests are compiled first.
func TestSession_groups(t *testing.T) {
	root := module{dir: "."}
	s := &session{options: options{modules: []module{root, {dir: "tools"}}}}
	s.packages = []*testPackage{
		{path: "x/short", module: root}, {path: "y/short", module: root},
		{path: "x/long", module: root, acceptance: true}, {path: "tools/a", module: module{dir: "tools"}},
	}
	var got []string
	for _, g := range s.groups() {
		var paths []string
		for _, p := range g.packages {
			paths = append(paths, p.path)
		}
		got = append(got, strings.Join(paths, "+"))
	}
	if want := "x/long x/short y/short tools/a"; strings.Join(got, " ") != want {
		t.Errorf("groups: %v, want %s", got, want)
	}
}
