package vnfm

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestRetryWhileBusy(t *testing.T) {
	t.Parallel()
	busy := &BusyError{Object: "VNF instance \"a\"", Holder: "somebody", Since: time.Unix(0, 0)}
	// A holder that was killed, and one that renews its lock.
	silent, alive := *busy, *busy
	silent.Renewed, silent.Expires = time.Unix(1, 0), time.Now().Add(time.Minute)
	alive.Renewed, alive.Expires = time.Unix(2, 0), silent.Expires
	expired := silent
	expired.Expires = time.Now().Add(-time.Second)
	broken := errors.New("broken")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx     context.Context
		answers []error
		want    error
		text    string
		// tries is 0 for any number.
		tries int
	}{
		"free":                {t.Context(), []error{nil}, nil, "", 1},
		"without patience":    {t.Context(), []error{busy}, busy, `VNF instance "a" has been locked by somebody since 1970-01-01T00:00:00Z`, 1},
		"until it is free":    {WithLockTimeout(t.Context(), time.Minute), []error{busy, busy, nil}, nil, "", 3},
		"until it is broken":  {WithLockTimeout(t.Context(), time.Minute), []error{busy, broken}, broken, "broken", 2},
		"until it is enough":  {WithLockTimeout(t.Context(), time.Millisecond), []error{busy}, busy, `VNF instance "a" has been locked by somebody since 1970-01-01T00:00:00Z; gave up after 1ms`, 0},
		"until it expires":    {WithLockTimeout(t.Context(), time.Millisecond), []error{&silent, &silent, &silent, nil}, nil, "", 4},
		"alive after all":     {WithLockTimeout(t.Context(), time.Millisecond), []error{&silent, &silent, &alive}, &alive, `VNF instance "a" has been locked by somebody since 1970-01-01T00:00:00Z; gave up after 1ms`, 3},
		"should have expired": {WithLockTimeout(t.Context(), time.Millisecond), []error{&expired}, &expired, `VNF instance "a" has been locked by somebody since 1970-01-01T00:00:00Z; gave up after 1ms`, 0},
		"silent, at once":     {t.Context(), []error{&silent}, &silent, `VNF instance "a" has been locked by somebody since 1970-01-01T00:00:00Z`, 1},
		"until the end":       {WithLockTimeout(ended, time.Minute), []error{busy}, context.Canceled, `VNF instance "a" has been locked by somebody since 1970-01-01T00:00:00Z: context canceled`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			err := RetryWhileBusy(tc.ctx, func() error {
				n++
				return tc.answers[min(n, len(tc.answers))-1]
			})
			if !errors.Is(err, tc.want) || (err != nil && err.Error() != tc.text) {
				t.Errorf("got %v, want %v", err, tc.text)
			}
			if tc.tries > 0 && n != tc.tries {
				t.Errorf("tried %d times, want %d", n, tc.tries)
			}
		})
	}
}
