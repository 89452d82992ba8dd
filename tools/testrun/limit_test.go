package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A run with a limit starts short tests first, then the longest one that leaves time for everything shorter, and leaves out
// what does not fit.
func TestSession_limit(t *testing.T) {
	const slowness = 2
	cases := map[string]struct {
		limit, left time.Duration
		pending     []int
		want        string
	}{
		"no limit: the longest":                           {0, time.Hour, []int{600, 300, 30, 5}, "600"},
		"short ones first":                                {time.Hour, time.Hour, []int{600, 300, 30, 5}, "30"},
		"all fit: the longest":                            {time.Hour, time.Hour, []int{600, 300, 100}, "600"},
		"with the longest, the others do not fit":         {time.Hour, 30 * time.Minute, []int{600, 500, 300, 100}, "500"},
		"only the shortest fits":                          {time.Hour, 5 * time.Minute, []int{600, 300, 100}, "100"},
		"none fits":                                       {time.Hour, 4 * time.Minute, []int{600, 300, 100}, "none"},
		"the time is up, for short ones as well":          {time.Hour, 0, []int{600, 30, 5}, "none"},
		"one after another, each takes twice as long":     {time.Hour, 1600 * time.Second, []int{400, 300}, "400"},
		"and with less time the longest one is not begun": {time.Hour, 1300 * time.Second, []int{400, 300}, "300"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			// What has ended so far took twice what was expected, one after another.
			now, took := time.Now(), max(c.limit-c.left, time.Minute)
			s := &session{open: map[string]int{}, began: now.Add(-took)}
			if c.limit > 0 {
				s.limit = took + c.left
			}
			s.done = []*attempt{{unit: unit{pkg: &testPackage{path: "p"}, expected: took / slowness}, took: took}}
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
