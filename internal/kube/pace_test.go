package kube

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestPace: what a write takes the server is what it takes longer than the fastest answer; what is in the way of a request is no part
// of it.
func TestPace(t *testing.T) {
	t.Parallel()
	c := &Client{}
	if roundTrip, write := c.Pace(); roundTrip != 0 || write != writeTime {
		t.Errorf("before the first answer: %s, %s", roundTrip, write)
	}
	ago := func(d time.Duration) time.Time { return time.Now().Add(-d) }
	c.pace.note("PUT", time.Time{}) // No connection was asked for.
	c.pace.note("GET", ago(3*time.Second))
	c.pace.note("GET", ago(time.Second))
	if roundTrip, write := c.Pace(); roundTrip.Round(time.Second) != time.Second || write != writeTime {
		t.Errorf("without a write: %s, %s", roundTrip, write)
	}
	c.pace.note("DELETE", ago(4*time.Second))
	c.pace.note("POST", ago(8*time.Second))
	if roundTrip, write := c.Pace(); roundTrip.Round(time.Second) != time.Second || write.Round(time.Second) != 3*time.Second {
		t.Errorf("with writes: %s, %s", roundTrip, write)
	}
	c.pace.note("PATCH", ago(0))
	_, write := c.Pace()
	assert.Equal(t, minWriteTime, write, "a write that is the fastest answer of all")
}
