package cluster

import (
	"context"
	"fmt"
	"os"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
)

// Down stops the lab and deletes its directory. There is nothing to save, so nothing is asked to end in order.
// Labs in directories below its own go before it: with their directory would go all that tells what to stop. But what
// starts such labs, and the programs of pods, goes first.
func (l *Lab) Down(ctx context.Context) error {
	if l.Dir.IsOpenStack() {
		return fmt.Errorf("the lab in %s is one of OpenStack: stop it with `lab openstack down --dir %s`", l.Dir, l.Dir)
	}
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
		if err := state.Processes.Stop(ctx, []string{ProcessServe, ProcessWorkloads}); err != nil {
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
		if err := l.inner(dir).Down(ctx); err != nil {
			return fmt.Errorf("stopping the lab in %s: %w", dir, err)
		}
	}
	if state != nil {
		if err := state.Processes.Stop(ctx, processes()); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(string(l.Dir)); err != nil {
		return fmt.Errorf("deleting the directory of the lab: %w", err)
	}
	return nil
}

// inner is the lab of a directory below this one.
func (l *Lab) inner(dir layout.Dir) interface {
	Down(ctx context.Context) error
} {
	if dir.IsOpenStack() {
		return &openstack.Lab{Dir: dir, Executable: l.Executable, Log: l.Log}
	}
	return &Lab{Dir: dir, Executable: l.Executable, Log: l.Log}
}
