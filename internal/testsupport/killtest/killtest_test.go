package killtest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
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
	assert.True(t, slices.Equal(first, again), "one seed has chosen %v and %v", first, again)
	t.Run("other", func(t *testing.T) {
		other := take(t)
		assert.False(t, slices.Equal(first, other), "two tests have chosen %v", other)
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
	assert.Equal(t, []int{0, 1, 2}, s.Of(3, 4), "4 of 3 instants")
	assert.Len(t, s.Of(9, 1), 1, "1 of 9 instants")
	t.Setenv(EnvKills, "1000")
	assert.Len(t, New(t).Of(9, 4), 9, "1000 of 9 instants")
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
	assert.Equal(t, "soak: TestLine heal_of_all 2 1 0 0.0", s.line("heal of all"), "the line")
	// The lines are those of tests that kill something.
	s.order = nil
}
