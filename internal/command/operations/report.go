package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// report writes the report of an operation as Markdown, to a file when one is named.
func (b *book) report(ctx context.Context, cmd *cobra.Command, e *entry, output string) error {
	r := &vnfm.Report{Operation: e.op, Instance: e.label(), Error: e.Error}
	found, err := records.Get[vnfm.Report](ctx, b.store, store.KindReport, e.ID)
	switch {
	case err == nil:
		r = &found.Value
	case !errors.Is(err, vnfm.ErrNotFound):
		return err
	}
	text := markdown(r, e)
	if output == "" {
		_, err = io.WriteString(cmd.OutOrStdout(), text)
		return err
	}
	if err := writePrivate(output, text); err != nil {
		return err
	}
	cli.Say(cmd, "wrote %s", output)
	return nil
}

// writePrivate writes a file that only its owner reads.
func writePrivate(name, text string) (err error) {
	f, err := os.OpenFile(filepath.Clean(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	// A file that is there may be open to others.
	if err := f.Chmod(0o600); err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return err
}

// markdown renders a report, and what the record of the operation says now.
func markdown(r *vnfm.Report, now *entry) string {
	var b strings.Builder
	op := &r.Operation
	fmt.Fprintf(&b, "# %s of %s: %s\n\n", op.Type, r.Instance, now.State)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "* %s: %s\n", name, value)
		}
	}
	row("operation", op.ID)
	row("instance", r.Instance+" ("+op.InstanceID+")")
	row("started", instant(op.StartedAt))
	row("attempts", fmt.Sprint(op.Attempts))
	row("run by", r.Runner)
	row("failed", instant(r.TakenAt))
	row("now", now.State+" since "+instant(now.StateEnteredAt))
	if r.TakenAt.IsZero() {
		b.WriteString("\nNo process has recorded more than the operation itself: it runs, it has completed, or its process was killed.\n")
	}
	if r.Cut {
		b.WriteString("\nSome of the report was left out for its size.\n")
	}
	section := func(title, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fence := fenceFor(text)
			fmt.Fprintf(&b, "\n## %s\n\n%stext\n%s\n%s\n", title, fence, text, fence)
		}
	}
	section("Error", r.Error)
	if len(op.Parameters) > 0 {
		if text, err := json.MarshalIndent(op.Parameters, "", "  "); err == nil {
			section("Parameters", string(text))
		}
	}
	section("Timeline", timeline(r))
	if len(r.Timeline) == 0 {
		section("Last progress", op.Progress)
	}
	for _, s := range r.Sections {
		section(s.Title, s.Text)
	}
	return b.String()
}

func instant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// timeline has a line for each state and step, with the time since the operation began.
func timeline(r *vnfm.Report) string {
	lines := make([]string, 0, len(r.Timeline))
	for _, l := range r.Timeline {
		lines = append(lines, fmt.Sprintf("%s  %8s  %s", l.At.UTC().Format(time.TimeOnly), l.At.Sub(r.Operation.StartedAt).Round(time.Second),
			strings.ReplaceAll(l.Text, "\n", "\n                    ")))
	}
	return strings.Join(lines, "\n")
}

// fenceFor is a fence that no line of a text ends.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
