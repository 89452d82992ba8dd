package helper

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var work = New("work", func(what string) string {
	switch what {
	case "loop":
		for n := 0; ; n++ {
			if n < 0 {
				break
			}
		}
	case "append":
		var all [][]byte
		for {
			all = append(all, make([]byte, 1<<20))
			for i := range all[len(all)-1] {
				all[len(all)-1][i] = 1
			}
		}
	case "at once":
		return string(make([]byte, 32<<30))
	case "recurse":
		return recurse(0)
	case "panic":
		panic("said " + what)
	case "environment":
		return strings.Join(os.Environ(), " ")
	case "garbage":
		n := 0
		for range 2000 {
			n += len(strings.Repeat("x", 1<<20))
		}
	case "print":
		if _, err := os.Stdout.WriteString("printed"); err == nil {
			return "it could print"
		}
	}
	return what + "!"
})

func recurse(n int) string {
	if n < 0 {
		return ""
	}
	return recurse(n+1) + "x"
}

func init() { work.Serve() }

// limits has more time than needed: where page faults are slow, memory takes seconds.
var limits = Limits{CPU: 20 * time.Second, Memory: 128 << 20}

func TestCall(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"loop": "takes more than 500ms of processor time", "append": "takes more than 128 MiB of memory",
		"at once": "takes more than 128 MiB of memory", "recurse": "takes more than 64 MiB of stack",
		"panic": `the helper process "work" failed: panic: said panic`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			l := limits
			if what == "loop" {
				l.CPU = 500 * time.Millisecond
			}
			answer, err := work.Call(t.Context(), l, what)
			if err == nil || err.Error() != want {
				t.Errorf("got %q, %v; want %s", answer, err, want)
			}
		})
	}
	for _, what := range []string{"garbage", "print", "a"} {
		answer, err := work.Call(t.Context(), limits, what)
		if err != nil || answer != what+"!" {
			t.Errorf("%s: got %q, %v", what, answer, err)
		}
	}
}

func TestCallKnowsNothing(t *testing.T) {
	t.Setenv("PLANTED_TOKEN", "planted")
	for {
		p, used, err := work.process()
		require.NoError(t, err)
		p.close()
		if !used {
			break
		}
	}
	got, err := work.Call(t.Context(), limits, "environment")
	if err != nil || got != "VNF_HELPER=work TZ=UTC GOTRACEBACK=none" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	if _, err := work.Call(ctx, Limits{CPU: time.Minute, Memory: 128 << 20}, "loop"); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// A process that ended while it waited is replaced.
func TestCallAfterADeath(t *testing.T) {
	t.Parallel()
	own := New("work", work.f)
	if _, err := own.Call(t.Context(), limits, "a"); err != nil {
		t.Fatal(err)
	}
	own.idle[0].kill()
	_ = own.idle[0].wait()
	if got, err := own.Call(t.Context(), limits, "b"); err != nil || got != "b!" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCallsAtATime(t *testing.T) {
	t.Parallel()
	own := New("work", work.f)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got, err := own.Call(t.Context(), limits, "a"); err != nil || got != "a!" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if n := len(own.idle); n < 1 || n > maxIdle {
		t.Errorf("%d processes wait", n)
	}
}

func BenchmarkCall(b *testing.B) {
	for b.Loop() {
		if _, err := work.Call(b.Context(), limits, "a"); err != nil {
			b.Fatal(err)
		}
	}
}
