package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A run with a limit starts the longest test as long as all of them fit; otherwise short ones come first.
func TestSession_limit(t *testing.T) {
	const slowness = 2
	cases := map[string]struct {
		limit, left time.Duration
		pending     []int
		want        string
	}{
		"no limit: the longest":               {0, time.Hour, []int{600, 300, 30, 5}, "600"},
		"all fit: the longest":                {time.Hour, 35 * time.Minute, []int{600, 300, 100, 30, 5}, "600"},
		"not all fit: the shortest":           {time.Hour, 34 * time.Minute, []int{600, 300, 100, 30, 5}, "5"},
		"among long ones, one that fits":      {time.Hour, 7 * time.Minute, []int{600, 300, 100}, "100"},
		"none fits":                           {time.Hour, 4 * time.Minute, []int{600, 300, 100}, "none"},
		"the time is up":                      {time.Hour, 0, []int{600, 30, 5}, "none"},
		"nothing has ended yet: the shortest": {time.Hour, time.Hour, []int{600, 30, 5}, "5"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			// What has ended so far took twice what was expected, one after another.
			now, took := time.Now(), c.limit-c.left
			s := &session{options: options{limit: c.limit}, open: map[string]int{}, began: now.Add(-took)}
			if took > 0 {
				s.done = []*attempt{{unit: unit{pkg: &testPackage{path: "p"}, expected: took / slowness}, took: took}}
			}
			for _, seconds := range c.pending {
				s.add(unit{pkg: &testPackage{path: "p"}, test: fmt.Sprintf("Test%d", seconds), expected: time.Duration(seconds) * time.Second})
			}
			got := "none"
			if at := s.next(now); at >= 0 {
				got = strings.TrimPrefix(s.pending[at].test, "Test")
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Where several run at a time, there may be time for the work of all, and not for the longest.
func TestSession_longestDoesNotFit(t *testing.T) {
	p, now := &testPackage{path: "p"}, time.Now()
	s := &session{options: options{limit: time.Hour}, open: map[string]int{}, began: now.Add(-40 * time.Minute)}
	for range 10 {
		s.done = append(s.done, &attempt{unit: unit{pkg: p, expected: 20 * time.Minute}, took: 40 * time.Minute})
	}
	s.add(unit{pkg: p, test: "TestLong", expected: 15 * time.Minute})
	s.add(unit{pkg: p, test: "TestShort", expected: 5 * time.Minute})
	if got := s.pending[s.next(now)].test; got != "TestShort" {
		t.Errorf("got %s", got)
	}
}

// The short tests of a package come before a test that takes less time.
func TestSession_packagesFirst(t *testing.T) {
	s := &session{}
	rest := unit{pkg: &testPackage{path: "p"}, expected: 2 * time.Minute}
	test := unit{pkg: &testPackage{path: "p"}, test: "TestA", expected: 10 * time.Second}
	if !s.before(rest, test) || s.before(test, rest) {
		t.Error("a single test comes first")
	}
}

// Each seed has another order of the long tests, and always the same one.
func TestSession_before(t *testing.T) {
	order := func(seed string) string {
		var units []unit
		for _, name := range []string{"A", "B", "C", "D", "E"} {
			units = append(units, unit{pkg: &testPackage{path: "p"}, test: name, expected: time.Hour})
		}
		s := &session{options: options{seed: seed}}
		slices.SortFunc(units, func(a, b unit) int {
			if s.before(a, b) {
				return -1
			}
			return 1
		})
		var names []string
		for _, u := range units {
			names = append(names, u.test)
		}
		return strings.Join(names, "")
	}
	first, again, other := order("1"), order("1"), order("2")
	if first != again || first == other {
		t.Errorf("orders: %s, %s with the same seed, %s with another one", first, again, other)
	}
}

// What failed is run once more in the minutes after the limit.
func TestSession_limitAgain(t *testing.T) {
	now := time.Now()
	s := &session{options: options{limit: time.Hour}, open: map[string]int{}, began: now.Add(-time.Hour)}
	s.add(unit{pkg: &testPackage{path: "p"}, expected: 2 * time.Minute, again: true})
	if got := s.next(now); got != 0 {
		t.Errorf("at the limit: got %d", got)
	}
	if got := s.next(now.Add(againTime)); got != -1 {
		t.Errorf("after it: got %d", got)
	}
}

// What is left out is named, with its tests.
func TestSession_leaveOut(t *testing.T) {
	p := &testPackage{path: "github.com/nfv-iac/terraform-provider-vnf/internal/p"}
	s := &session{options: options{limit: time.Hour}, open: map[string]int{}, began: time.Now()}
	s.add(unit{pkg: p, test: "TestLong", expected: 5 * time.Minute})
	s.add(unit{pkg: p, expected: time.Second})
	s.add(unit{pkg: p, test: "TestFailed", expected: time.Minute, again: true})
	s.leaveOut()
	want := "left out, to end within 60 min 00 s on a machine that takes 1.0 times as long as expected:\n" +
		"  internal/p TestLong, 5 min 00 s\n  internal/p all tests that take less than 8 s, 1 s\n"
	if got := s.describeLeftOut(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if len(s.pending) > 0 || s.open[p.path] != 0 || s.countLeftOut() != ", 2 left out" {
		t.Errorf("%d wait, %d open%s", len(s.pending), s.open[p.path], s.countLeftOut())
	}
}
