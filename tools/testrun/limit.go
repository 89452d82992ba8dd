package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

// shortUnit is the time below which units are not chosen by chance.
const shortUnit = time.Minute

// againTime is what comes on top of the limit for units that failed and are run once more.
const againTime = 8 * time.Minute

// overtime is how much longer than expected a unit may take and still end within the limit.
const overtime = 1.25

// next is the place among those that wait, the longest of which is the first, of the unit that starts next; -1 when none of them
// fits into the time that is left. As long as all of them fit, that is the longest. Otherwise the short tests of packages come first,
// since they are most of all, then other short ones, and long ones in an order that each commit has for itself, so that all of
// them run now and then.
func (s *session) next(now time.Time) int {
	if s.limit == 0 {
		return 0
	}
	left := s.began.Add(s.limit).Sub(now)
	if s.pending[0].again {
		left += againTime
	}
	pace := s.pace(now)
	fits := func(u unit) bool { return u.expected.Seconds()*pace.slowness*overtime <= left.Seconds() }
	if fits(s.pending[0]) && s.unfinished(now, pace.slowness).Seconds() <= pace.rate*left.Seconds() {
		return 0
	}
	best := -1
	for at, u := range s.pending {
		if fits(u) && (best < 0 || s.before(u, s.pending[best])) {
			best = at
		}
	}
	return best
}

// before reports whether a unit starts before another one when not all of them fit into the time.
func (s *session) before(a, b unit) bool {
	if (a.test == "") != (b.test == "") {
		return a.test == ""
	}
	if a.expected < shortUnit || b.expected < shortUnit {
		return a.expected < b.expected
	}
	first, second := sha256.Sum256([]byte(s.seed+a.name())), sha256.Sum256([]byte(s.seed+b.name()))
	return bytes.Compare(first[:], second[:]) < 0
}

// pace is what the units show that have ended.
type pace struct {
	// slowness is the time that a unit takes, as a multiple of what is expected of it.
	slowness float64
	// rate is the expected time of the units that end, or come nearer to their end, in each unit of time: several run at a time.
	rate float64
}

func (s *session) pace(now time.Time) pace {
	var took, expected time.Duration
	for _, a := range s.done {
		if a.err == nil {
			took += a.atWork()
			expected += a.expected
		}
	}
	p := pace{slowness: 1}
	if expected == 0 {
		return p
	}
	p.slowness = max(1, took.Seconds()/expected.Seconds())
	done := expected
	for _, a := range s.running {
		done += a.progress(now, p.slowness)
	}
	p.rate = done.Seconds() / now.Sub(s.began).Seconds()
	return p
}

// progress is the part of what is expected of a running unit that lies behind it.
func (a *attempt) progress(now time.Time, slowness float64) time.Duration {
	return min(a.expected, time.Duration(float64(now.Sub(a.began))/slowness))
}

// unfinished is what is expected of the running units from now on, and of those that wait.
func (s *session) unfinished(now time.Time, slowness float64) time.Duration {
	var sum time.Duration
	for _, a := range s.running {
		sum += a.expected - a.progress(now, slowness)
	}
	for _, u := range s.pending {
		sum += u.expected
	}
	return sum
}

// leaveOut drops the units that wait. One that failed before stays failed.
func (s *session) leaveOut() {
	for _, u := range s.pending {
		s.open[u.pkg.path]--
		if !u.again {
			s.leftOut = append(s.leftOut, u)
		}
	}
	s.pending = nil
}

func (s *session) countLeftOut() string {
	if len(s.leftOut) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d left out", len(s.leftOut))
}

// describeLeftOut is a line for each unit that was left out.
func (s *session) describeLeftOut() string {
	if len(s.leftOut) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "left out, to end within %s on a machine that takes %.1f times as long as expected:\n", minutes(s.limit), s.pace(time.Now()).slowness)
	for _, u := range s.leftOut {
		name := u.test
		if name == "" {
			name = "all tests that take less than " + minutes(alone)
		}
		fmt.Fprintf(&b, "  %s %s, %s\n", short(u.pkg.path), name, minutes(u.expected))
	}
	return b.String()
}
