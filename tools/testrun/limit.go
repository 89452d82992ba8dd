package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// shortUnit is how long a unit takes that starts before the long ones when the run has a limit: the pace that the short ones show
// is what the choice among the long ones rests on.
const shortUnit = time.Minute

// againTime is what comes on top of the limit for units that failed and are run once more.
const againTime = 8 * time.Minute

// overtime is how much longer than expected a unit may take and still end within the limit.
const overtime = 1.25

// next is the place among those that wait of the unit that starts next, or -1 when none of them fits into the time that is left.
// Without a limit that is the longest. With one it is the longest that leaves time for everything shorter.
func (s *session) next(now time.Time) int {
	if s.limit == 0 {
		return 0
	}
	// The units that wait are sorted, the longest first.
	first := slices.IndexFunc(s.pending, func(u unit) bool { return u.expected < shortUnit })
	left := s.began.Add(s.limit).Sub(now)
	if s.pending[0].again {
		left += againTime
	}
	if first >= 0 && left > 0 {
		return first
	}
	pace := s.pace(now)
	work := s.unfinished(now, pace.slowness)
	at := -1
	for place, u := range slices.Backward(s.pending) {
		work += u.expected
		late := time.Duration(float64(u.expected)*pace.slowness*overtime) > left
		if late || (at >= 0 && time.Duration(float64(work)/pace.rate) > left) {
			break
		}
		at = place
	}
	return at
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
	p := pace{slowness: 1, rate: 1}
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

// unfinished is what is expected of the running units from now on.
func (s *session) unfinished(now time.Time, slowness float64) time.Duration {
	var sum time.Duration
	for _, a := range s.running {
		sum += a.expected - a.progress(now, slowness)
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
