package budget

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// eachAtLeast is how many things a goroutine of Each is worth.
const eachAtLeast = 8

// Each does work for n things, several at a time, and returns the results in their order. The budget is charged as if they were done one
// after the other: where it does not reach for all of them they are done so, and the same one is refused on every machine. So work
// may be called twice for one of them. It is safe for concurrent use, and takes from the budget that it is given.
func Each[T any](b *Budget, n int, work func(b *Budget, i int) T) []T {
	out := make([]T, n)
	if workers := min(n/eachAtLeast, runtime.GOMAXPROCS(0)); workers > 1 && atOnce(b, workers, out, work) {
		return out
	}
	for i := range out {
		out[i] = work(b, i)
	}
	return out
}

// atOnce does the work of Each with several goroutines, and charges the budget. It reports false, and leaves the budget as it is, where
// that does not reach.
func atOnce[T any](b *Budget, workers int, out []T, work func(b *Budget, i int) T) bool {
	trial := b.left()
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for trial.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(out) {
					return
				}
				out[i] = work(trial.part(), i)
			}
		})
	}
	all.Wait()
	bytes, values := trial.Taken()
	steps := trial.limits.Steps - trial.steps.Load()
	return trial.Err() == nil && b.TakeKnown(bytes, values) && b.Steps(steps) == nil
}
