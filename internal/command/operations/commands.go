package operations

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
)

func (b *book) listCommand() *cobra.Command {
	var last int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List LCM operations, the last ones at the end",
		Example: `  terraform-provider-vnf operations list
  terraform-provider-vnf operations list --store kubernetes:vnf-store --last 5`,
		Args: cli.NoArguments,
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			if last < 1 {
				return cli.Usagef("--last is %d and must be at least 1", last)
			}
			return b.open(ctx, func() error {
				all, err := b.entries(ctx)
				if err != nil {
					return err
				}
				return b.list(cmd, all[max(0, len(all)-last):])
			})
		}),
	}
	cmd.Flags().IntVar(&last, "last", 20, "`NUMBER` of operations")
	return b.flags(cmd)
}

func (b *book) list(cmd *cobra.Command, all []entry) error {
	if b.form == cli.FormJSON {
		return cli.JSON(cmd, all)
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "ID\tINSTANCE\tTYPE\tSTATE\tSTARTED\tLAST")
	for i := range all {
		e := &all[i]
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", e.ID[:min(8, len(e.ID))], e.label(), e.Type, e.State, e.StartedAt.Format(time.DateTime), firstLine(e.says()))
	}
	return w.Flush()
}

// firstLine is the beginning of a text that fits into a line.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > 100 {
		return string(runes[:99]) + "…"
	}
	return line
}

func (b *book) showCommand() *cobra.Command {
	var report bool
	var file string
	cmd := &cobra.Command{
		Use:   "show OPERATION",
		Short: "Show all that the store has of an operation",
		Long: `Shows the record of an operation, or with --report, as Markdown for a ticket, what the process that ran it
knew when it failed: timeline, objects that are not ready with conditions, events and ends of logs, and
the rendered objects. Secrets that the provider knows are masked; Secrets are shown without their values.`,
		Example: `  terraform-provider-vnf operations show core5g
  terraform-provider-vnf operations show --report --file report.md core5g`,
		Args: cli.Arguments("OPERATION"),
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			switch {
			case report && b.form == cli.FormJSON:
				return cli.Usagef("--report is Markdown: leave out --output json")
			case file != "" && !report:
				return cli.Usagef("--file is for --report")
			}
			return b.open(ctx, func() error {
				e, err := b.find(ctx, args[0])
				if err != nil {
					return err
				}
				switch {
				case report:
					return b.report(ctx, cmd, e, file)
				case b.form == cli.FormJSON:
					return cli.JSON(cmd, e)
				}
				return show(cmd, e)
			})
		}),
	}
	cmd.Flags().BoolVar(&report, "report", false, "write the report of an operation that has failed")
	cmd.Flags().StringVar(&file, "file", "", "write the report to `FILE`, for its owner alone")
	return b.flags(cmd)
}

func show(cmd *cobra.Command, e *entry) error {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(w, "%s\t%s\n", name, strings.ReplaceAll(value, "\n", "\n\t"))
		}
	}
	line("id", e.ID)
	line("instance", e.label()+" ("+e.InstanceID+")")
	line("type", e.Type)
	line("state", e.State+" since "+e.StateEnteredAt.Format(time.DateTime))
	line("started", e.StartedAt.Format(time.DateTime))
	line("attempts", fmt.Sprint(e.Attempts))
	line("run by", e.Runner)
	for _, name := range slices.Sorted(maps.Keys(e.Parameters)) {
		value, err := json.Marshal(e.Parameters[name])
		if err != nil {
			return err
		}
		line(name, string(value))
	}
	line("last", e.says())
	return w.Flush()
}

// watchInterval is how often "watch" looks into the store, as often as a running operation writes its progress.
const watchInterval = time.Second

func (b *book) watchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch OPERATION",
		Short: "Follow an operation to its end",
		Long: `Writes a line for each new step or state of the operation, until no process works on it.

Exit codes: 0 the operation is COMPLETED, 1 it has ended otherwise or no process runs it, 2 there is
no such operation.`,
		Example: `  terraform-provider-vnf operations watch core5g`,
		Args:    cli.Arguments("OPERATION"),
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return b.open(ctx, func() error { return b.watch(ctx, cmd, args[0]) })
		}),
	}
	return b.flags(cmd)
}

func (b *book) watch(ctx context.Context, cmd *cobra.Command, name string) error {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	said := ""
	for {
		e, err := b.find(ctx, name)
		if err != nil {
			return err
		}
		// The command waits for this operation, not for the next one of the instance.
		name = e.ID
		if now := e.State + " " + e.says(); now != said {
			said = now
			if err := b.line(cmd, e); err != nil {
				return err
			}
		}
		if e.ended() {
			return e.result()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// line writes what an operation says now. JSON is one object in each line.
func (b *book) line(cmd *cobra.Command, e *entry) error {
	if b.form == cli.FormJSON {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(e)
	}
	cli.Say(cmd, "%s  %s of %s: %s after %s  %s", time.Now().Format(time.TimeOnly), e.Type, e.label(), e.State,
		e.took().Round(time.Second), e.says())
	return nil
}

// cancelPatience is how long "cancel" waits for the end of the operation.
const cancelPatience = time.Minute

func (b *book) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel OPERATION",
		Short: "Have the process that runs an operation stop it",
		Long: `Asks the process that runs the operation to stop it, wherever that process is, and waits until it has.
The operation is FAILED_TEMP then, as after an interruption: nothing is rolled back, and the next
apply goes on with it.`,
		Example: `  terraform-provider-vnf operations cancel core5g`,
		Args:    cli.Arguments("OPERATION"),
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return b.open(ctx, func() error { return b.cancel(ctx, cmd, args[0]) })
		}),
	}
}

func (b *book) cancel(ctx context.Context, cmd *cobra.Command, name string) error {
	e, err := b.find(ctx, name)
	if err != nil {
		return err
	}
	if err := lcm.Cancel(ctx, b.store, &e.op); err != nil {
		return err
	}
	cli.Say(cmd, "asked %s to stop %s of %s", e.Runner, e.Type, e.label())
	within, done := context.WithTimeoutCause(ctx, cancelPatience,
		fmt.Errorf("the process has not stopped it within %s; \"operations watch\" shows what it does", cancelPatience))
	defer done()
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for {
		now, err := b.find(within, e.ID)
		if err != nil {
			return err
		}
		if now.op.State != e.op.State || now.ended() {
			cli.Say(cmd, "%s of %s is %s", now.Type, now.label(), now.State)
			return lcm.WithdrawCancellation(ctx, b.store, &e.op)
		}
		select {
		case <-within.Done():
			return context.Cause(within)
		case <-ticker.C:
		}
	}
}
