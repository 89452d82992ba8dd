package garbage

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestDelay has the usual percentage again after the first collection.
func TestDelay(t *testing.T) {
	collectUntil := func(want func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !want(); runtime.Gosched() {
			runtime.GC()
			if time.Now().After(end) {
				t.Fatalf("the percentage stays at %d", percent())
			}
		}
	}
	// The process of the test has begun like the provider, unless GOGC is set.
	collectUntil(func() bool { return percent() != first || os.Getenv("GOGC") != "" })
	defer debug.SetGCPercent(debug.SetGCPercent(120))
	if delay(); percent() != first {
		t.Errorf("the percentage at the start is %d", percent())
	}
	collectUntil(func() bool { return percent() == 120 })
}

func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
