package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// stopTimeout bounds the wait for processes that were killed.
const stopTimeout = 20 * time.Second

// Down stops the lab and deletes its directory. There is nothing to save, so nothing is asked to end in order.
// Labs in directories below its own go before it: with their directory would go all that tells what to stop. But what
// starts such labs, and the programs of pods, goes first.
func (l *Lab) Down(ctx context.Context) error {
	unlock, err := l.Dir.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	state, err := l.Dir.LoadState()
	if err != nil && !layout.IsMissing(err) {
		return fmt.Errorf("cannot tell which processes belong to the lab: %w", err)
	}
	if state != nil {
		// Whoever may be about to start something goes before it.
		if err := stopAll(ctx, state, []string{ProcessServe, ProcessWorkloads}); err != nil {
			return err
		}
		if err := controllers.StopPrograms(ctx, l.Dir); err != nil {
			return err
		}
	}
	inner, err := l.Dir.Inner()
	if err != nil {
		return err
	}
	for _, dir := range inner {
		if err := (&Lab{Dir: dir, Executable: l.Executable, Log: l.Log}).Down(ctx); err != nil {
			return fmt.Errorf("stopping the lab in %s: %w", dir, err)
		}
	}
	if state != nil {
		if err := stopAll(ctx, state, processes()); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(string(l.Dir)); err != nil {
		return fmt.Errorf("deleting the directory of the lab: %w", err)
	}
	return nil
}

// stopAll kills clients before servers, so that none of them fills its log with complaints.
func stopAll(ctx context.Context, state *layout.State, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var errs []error
	for _, name := range slices.Backward(names) {
		if err := state.Processes[name].Kill(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stopping %s: %w", name, err))
			continue
		}
		delete(state.Processes, name)
	}
	return errors.Join(errs...)
}
