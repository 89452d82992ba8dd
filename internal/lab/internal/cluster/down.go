package cluster

import (
	"context"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/openstack"
)

// Down stops the lab and deletes its directory. There is nothing to save, so nothing is asked to end in order.
// Labs in directories below its own go before it: with their directory would go all that tells what to stop. But what
// starts such labs, and the programs of pods, goes first.
func (l *Lab) Down(ctx context.Context) error {
	_, err := l.down(ctx, func(*layout.State) bool { return true })
	return err
}

// DownAbandoned is Down for a lab whose owner has ended. gone tells whether it was one.
func (l *Lab) DownAbandoned(ctx context.Context) (gone bool, err error) {
	return l.down(ctx, func(state *layout.State) bool { return layout.Abandoned(state.Owner) })
}

func (l *Lab) down(ctx context.Context, wanted func(*layout.State) bool) (gone bool, err error) {
	if l.Dir.IsOpenStack() {
		return false, fmt.Errorf("the lab in %s is one of OpenStack: stop it with `lab openstack down --dir %s`", l.Dir, l.Dir)
	}
	return layout.TakeDown(ctx, l.Dir, l.Dir.LoadState, wanted, l.stop)
}

// stop stops a lab, which has no state when it was never started.
func (l *Lab) stop(ctx context.Context, state *layout.State) error {
	if state != nil {
		// A process that may be about to start another one ends before it.
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
	if state == nil {
		return nil
	}
	return state.Processes.Stop(ctx, processes())
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
