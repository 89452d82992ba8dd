package openstack

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// Down stops the lab and deletes its directory, which stays when a lab of Kubernetes is in it too. There is nothing to save, so nothing is asked to end in order, and what
// is shared with other labs stays. No mount is left: each process has taken its own with it.
func (l *Lab) Down(ctx context.Context) error {
	_, err := l.down(ctx, func(*layout.OpenStack) bool { return true })
	return err
}

// DownAbandoned is Down for a lab whose owner has ended. gone tells whether it was one.
func (l *Lab) DownAbandoned(ctx context.Context) (gone bool, err error) {
	return l.down(ctx, func(state *layout.OpenStack) bool { return layout.Abandoned(state.Owner) })
}

func (l *Lab) down(ctx context.Context, wanted func(*layout.OpenStack) bool) (gone bool, err error) {
	if l.Dir.IsKubernetes() && !l.Dir.IsOpenStack() {
		return false, fmt.Errorf("the lab in %s is one of Kubernetes: stop it with `lab down --dir %s`", l.Dir, l.Dir)
	}
	return layout.TakeDown(ctx, l.Dir, l.Dir.LoadOpenStack, wanted, l.stop)
}

// stop stops a lab, which has no state when it was never started.
func (l *Lab) stop(ctx context.Context, state *layout.OpenStack) error {
	if state == nil {
		return nil
	}
	if err := state.Processes.Stop(ctx, processesOf(state, services())); err != nil {
		return err
	}
	return l.sweep(ctx, state)
}

// Status prints what runs. The error is ErrNotRunning when something that should run does not.
func (l *Lab) Status(_ context.Context, w io.Writer) error {
	state, err := l.Dir.LoadOpenStack()
	if layout.IsMissing(err) {
		return fmt.Errorf("%w: `lab openstack up --dir %s` has not come to its end", ErrNotRunning, l.Dir)
	}
	if err != nil {
		return err
	}
	chosen, err := choose(state.Services)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "directory\t%s\n", l.Dir)
	for _, s := range chosen {
		if s.internal {
			continue
		}
		fmt.Fprintf(table, "%s\t%s\n", s.kind, endpoint(state.Ports, s))
	}
	if state.Servers != "" {
		fmt.Fprintf(table, "servers\t%s\n", strings.TrimSuffix(state.Servers+": "+state.ServersReason, ": "))
	}
	state.Processes.Report(table, processesOf(state, chosen), l.Dir.Log)
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the status: %w", err)
	}
	_, _, err = l.running()
	return err
}

// running loads the state of a lab that runs. The error is ErrNotRunning for one that does not.
func (l *Lab) running() (*layout.OpenStack, []service, error) {
	state, err := l.Dir.LoadOpenStack()
	if layout.IsMissing(err) {
		return nil, nil, fmt.Errorf("%w: `lab openstack up --dir %s` has not come to its end", ErrNotRunning, l.Dir)
	}
	if err != nil {
		return nil, nil, err
	}
	chosen, err := choose(state.Services)
	if err != nil {
		return nil, nil, err
	}
	if missing := state.Processes.Missing(processesOf(state, chosen)); !state.Ready || len(missing) > 0 {
		return nil, nil, fmt.Errorf("%w: missing %s; `lab openstack up --dir %s` repairs it", ErrNotRunning, strings.Join(missing, ", "), l.Dir)
	}
	return state, chosen, nil
}
