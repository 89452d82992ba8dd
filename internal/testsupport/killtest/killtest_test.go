package killtest

import (
	"slices"
	"testing"
)

func TestKills(t *testing.T) {
	t.Setenv(EnvKills, "")
	s := New(t)
	if got := s.Kills(2); got != 2 || s.Soak() {
		t.Errorf("%d kills without a number, soak is %t", got, s.Soak())
	}
	t.Setenv(EnvKills, "1000")
	s = New(t)
	if got := s.Kills(2); got != 1000 || !s.Soak() {
		t.Errorf("%d kills of 1000, soak is %t", got, s.Soak())
	}
}

// A seed gives a test the same instants again, and another test others.
func TestSeed(t *testing.T) {
	take := func(t *testing.T) []uint64 {
		t.Helper()
		s := New(t)
		return []uint64{s.Uint64(), s.Uint64()}
	}
	first, again := take(t), take(t)
	if !slices.Equal(first, again) {
		t.Errorf("one seed has chosen %v and %v", first, again)
	}
	t.Run("other", func(t *testing.T) {
		if other := take(t); slices.Equal(first, other) {
			t.Errorf("two tests have chosen %v", other)
		}
	})
}

func TestOf(t *testing.T) {
	t.Setenv(EnvKills, "")
	s := New(t)
	for range 20 {
		got := s.Of(9, 4)
		if len(got) != 4 || got[0] != 0 || got[3] != 8 || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != 4 {
			t.Fatalf("4 of 9 instants are %v", got)
		}
	}
	if got := s.Of(3, 4); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("4 of 3 instants are %v", got)
	}
	if got := s.Of(9, 1); len(got) != 1 {
		t.Errorf("1 of 9 instants is %v", got)
	}
	t.Setenv(EnvKills, "1000")
	if got := New(t).Of(9, 4); len(got) != 9 {
		t.Errorf("1000 of 9 instants are %v", got)
	}
}

func TestLine(t *testing.T) {
	s := New(t)
	for _, met := range []bool{true, false} {
		end := s.Begin(t, "heal of all")
		if met {
			s.Met("heal of all")
		}
		end()
	}
	if got := s.line("heal of all"); got != "soak: TestLine heal_of_all 2 1 0 0.0" {
		t.Errorf("the line is %q", got)
	}
	// The lines are those of tests that kill something.
	s.order = nil
}
