// Package operations has the commands that look at LCM operations in a store, from any shell or machine that reaches it.
package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/stores"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Command is the group of the commands about LCM operations. The release is that of the provider.
func Command(release string) *cobra.Command {
	b := &book{release: release}
	group := cli.Group("operations", "Follow and cancel LCM operations",
		"An operation is named by its id, by the beginning of its id, or by the name or id of an instance, whose last operation it is.\n"+
			"The commands need the store of the provider and no key: what they show is not sealed and holds no secret.\n\n"+stores.Names,
		b.listCommand(), b.showCommand(), b.watchCommand(), b.cancelCommand())
	group.PersistentFlags().StringVar(&b.name, "store", "", "`STORE` of the provider")
	return group
}

// book is a store and what the commands read in it.
type book struct {
	release, name string
	// form is that of the output.
	form string

	store store.Portable
}

// entry is an operation as the commands show it. Its JSON is documented: fields are added, and not renamed.
type entry struct {
	ID             string         `json:"id"`
	Instance       string         `json:"instance"`
	InstanceID     string         `json:"instance_id"`
	Type           string         `json:"type"`
	State          string         `json:"state"`
	Runner         string         `json:"runner,omitempty"`
	Progress       string         `json:"progress,omitempty"`
	Error          string         `json:"error,omitempty"`
	Attempts       int            `json:"attempts"`
	StartedAt      time.Time      `json:"started_at"`
	StateEnteredAt time.Time      `json:"state_entered_at"`
	Parameters     map[string]any `json:"parameters,omitempty"`

	op vnfm.Operation
	// gone is set when the store has no instance of the operation any more.
	gone bool
}

// flags adds the flag for the form of the output.
func (b *book) flags(cmd *cobra.Command) *cobra.Command {
	cli.Output(cmd, &b.form, cli.FormText, cli.FormJSON)
	return cmd
}

// open opens the store for work.
func (b *book) open(ctx context.Context, work func() error) (err error) {
	if b.store, err = stores.Open(ctx, b.name, b.release); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.store.Close()) }()
	return work()
}

// entries returns all operations in the order of their starts.
func (b *book) entries(ctx context.Context) ([]entry, error) {
	ops, err := records.List[vnfm.Operation](ctx, b.store, store.Query{Kind: store.KindOperation})
	if err != nil {
		return nil, err
	}
	instances, err := records.List[vnfm.Instance](ctx, b.store, store.Query{Kind: store.KindInstance})
	if err != nil {
		return nil, err
	}
	held, err := b.store.HeldLeases(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, i := range instances {
		names[i.Value.ID] = i.Value.Name
	}
	out := make([]entry, 0, len(ops))
	for _, o := range ops {
		op := o.Value
		e := entry{
			ID: op.ID, Instance: cmp.Or(names[op.InstanceID], op.Instance), InstanceID: op.InstanceID, Type: string(op.Type), State: string(op.State),
			Progress: op.Progress, Error: op.Error, Attempts: op.Attempts, StartedAt: op.StartedAt, StateEnteredAt: op.StateEnteredAt,
			Parameters: op.Parameters, op: op,
		}
		_, exists := names[op.InstanceID]
		e.gone = !exists
		if !op.State.Final() {
			e.Runner = lcm.RunnerOf(held, op.InstanceID)
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b entry) int { return a.StartedAt.Compare(b.StartedAt) })
	return out, nil
}

// find returns the operation that a text names.
func (b *book) find(ctx context.Context, name string) (*entry, error) {
	all, err := b.entries(ctx)
	if err != nil {
		return nil, err
	}
	var found []entry
	for _, e := range all {
		switch {
		case e.ID == name:
			return &e, nil
		case e.Instance == name || e.InstanceID == name:
			// The last one counts.
			found = append(slices.DeleteFunc(found, func(other entry) bool { return other.InstanceID == e.InstanceID }), e)
		case len(name) >= 4 && strings.HasPrefix(e.ID, name):
			found = append(found, e)
		}
	}
	if slices.ContainsFunc(found, func(e entry) bool { return !e.gone }) {
		// A name belongs to the instance that exists.
		found = slices.DeleteFunc(found, func(e entry) bool { return e.gone })
	}
	switch len(found) {
	case 0:
		return nil, cli.Usagef("the store has no operation and no instance %q; \"operations list\" has all", name)
	case 1:
		return &found[0], nil
	}
	ids := make([]string, 0, len(found))
	for _, e := range found {
		ids = append(ids, e.ID)
	}
	return nil, cli.Usagef("%q names several operations: %s; give one of these ids", name, vnfm.QuotedNames(ids))
}

// label names the instance of an operation.
func (e *entry) label() string { return cmp.Or(e.Instance, e.InstanceID) }

// says is the last thing that is known of an operation.
func (e *entry) says() string {
	switch {
	case e.Error != "":
		return e.Error
	case !e.op.State.Final() && e.Runner == "":
		return strings.TrimSuffix("no process runs it: the next apply goes on with it; "+e.Progress, "; ")
	default:
		return e.Progress
	}
}

// took is how long the operation has been worked on.
func (e *entry) took() time.Duration {
	if e.ended() {
		return e.StateEnteredAt.Sub(e.StartedAt)
	}
	return time.Since(e.StartedAt)
}

// ended reports whether no process works on the operation.
func (e *entry) ended() bool { return e.op.State.Final() || e.Runner == "" }

// result is the error of an operation that has not been completed.
func (e *entry) result() error {
	if e.op.State == vnfm.StateCompleted {
		return nil
	}
	return fmt.Errorf("%s of %s is %s", e.Type, e.label(), e.State)
}
