package layout

import (
	"context"
	"fmt"
	"os"
)

// TakeDown stops a lab and deletes its directory, under the lock of the directory. load reads the state of the lab: one
// that was never started has none, and stop gets nil then. A lab that wanted refuses stays, and gone is false.
func TakeDown[S any](ctx context.Context, d Dir, load func() (*S, error), wanted func(*S) bool, stop func(context.Context, *S) error) (gone bool, err error) {
	unlock, err := d.Lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	state, err := load()
	if err != nil && !IsMissing(err) {
		return false, fmt.Errorf("cannot tell which processes belong to the lab: %w", err)
	}
	if state != nil && !wanted(state) {
		return false, nil
	}
	if err := stop(ctx, state); err != nil {
		return false, err
	}
	if d.IsOpenStack() && d.IsKubernetes() {
		// The directory goes with the lab of Kubernetes that is in it too.
		return true, os.Remove(d.openStackFile())
	}
	if err := os.RemoveAll(string(d)); err != nil {
		return false, fmt.Errorf("deleting the directory of the lab: %w", err)
	}
	return true, d.Deleted()
}
