package cluster

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// Status prints what runs. The error is ErrNotRunning when something that should run does not.
func (l *Lab) Status(ctx context.Context, w io.Writer) error {
	state, err := l.Dir.LoadState()
	if layout.IsMissing(err) {
		return fmt.Errorf("%w: `lab up --dir %s` has not come to its end", ErrNotRunning, l.Dir)
	}
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "directory\t%s\n", l.Dir)
	fmt.Fprintf(table, "endpoint\t%s\n", endpoint(state.Ports.APIServer()))
	fmt.Fprintf(table, "Kubernetes\t%s, %d nodes\n", state.KubernetesVersion, state.Nodes)
	if fault, err := l.control(ctx, commandFault); err == nil {
		fmt.Fprintf(table, "fault proxy\t%s, %s\n", endpoint(state.Ports.Fault()), fault)
	}
	names, all := processes(), l.allProcesses(state)
	if state.ClusterAPI != nil {
		names = append(names, clusterAPIProcesses()...)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	all.Report(table, names, l.Dir.Log)
	if err := table.Flush(); err != nil {
		return fmt.Errorf("printing the status: %w", err)
	}
	if _, err := l.running(); err != nil {
		return err
	}
	if state.ClusterAPI != nil && !l.clusterAPIRuns(state) {
		return fmt.Errorf("%w: Cluster API is not complete; `lab up --dir %s` repairs it", ErrNotRunning, l.Dir)
	}
	return nil
}
