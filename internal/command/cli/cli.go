// Package cli is what all commands of the provider's binary share: exit codes, errors of usage, interruption and output.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/printable"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The exit codes besides 0.
const (
	// ExitFailure says that a command failed, or found damage.
	ExitFailure = 1
	// ExitUsage says that a command did not begin: it was written wrongly, or a store or file
	// that it names cannot be opened.
	ExitUsage = 2
)

// Run runs a command with its arguments and returns the exit code. An error is one line on stderr.
func Run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SetArgs(args)
	stderr = &printable.Writer{To: stderr}
	out := &output{to: &printable.Writer{To: stdout}}
	root.SetOut(out)
	root.SetErr(stderr)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return Usagef("%w; see %s --help", inWords(err), cmd.CommandPath())
	})
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.failed
	}
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "Error: %v\n", err)
	if errors.As(err, new(*usageError)) {
		return ExitUsage
	}
	return ExitFailure
}

// output is where a command writes to. It remembers that a write has failed, since an output that is cut off is no success.
type output struct {
	to     io.Writer
	failed error
}

func (o *output) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil {
		err = fmt.Errorf("writing the output: %w", err)
		o.failed = err
	}
	return n, err
}

// inWords says of a number what it must be, where the library names a function of Go.
func inWords(err error) error {
	number := new(strconv.NumError)
	if !errors.As(err, &number) {
		return err
	}
	return errors.New(strings.Replace(err.Error(), number.Error(), "it must be a whole number", 1))
}

var namespace = lazyregexp.New(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// Namespace refuses what cannot be the name of a namespace, as the value of the flag --namespace.
func Namespace(name string) error {
	if name == "" || namespace.MatchString(name) {
		return nil
	}
	return Usagef("--namespace is %q; the name of a namespace has at most 63 lower-case letters, digits and hyphens, and neither begins nor ends with a hyphen", name)
}

// usageError is an error that a command ends with before it does anything.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usage marks an error as one of usage; nil stays nil.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err: err}
}

// Usagef returns an error of usage.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// The forms of an output that people read, and of one that programs read.
const (
	FormText = "text"
	FormJSON = "json"
)

// Output adds the flag for the form of the output, of which the first is the default. Another form is an error of usage.
func Output(cmd *cobra.Command, form *string, forms ...string) {
	last := len(forms) - 1
	cmd.Flags().StringVarP(form, "output", "o", forms[0], "`FORM`: "+strings.Join(forms[:last], ", ")+" or "+forms[last])
	cmd.PreRunE = func(*cobra.Command, []string) error { return OneOf("output", *form, forms...) }
}

// OneOf refuses a value of a flag that is none of those it can have.
func OneOf(flag, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return Usagef("--%s is %q; it can be %s", flag, value, vnfm.QuotedNames(known))
}

// Group returns a command that has others and does nothing itself.
func Group(use, short, long string, commands ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{
		Use: use, Short: short, Long: long, Args: NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(commands...)
	return group
}

// NoArguments refuses arguments of a command that has none, such as the name of another
// command that is misspelled.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return Usagef("%s has no command or argument %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
}

// noneEmpty refuses an argument that is empty, as that of a variable of the shell that is not set: it would name something else.
func noneEmpty(cmd *cobra.Command, args []string) error {
	if n := slices.Index(args, ""); n >= 0 {
		return Usagef("argument %d of %s is empty; see %s --help", n+1, cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

// OneAtMost takes one argument or none. The noun says what it names.
func OneAtMost(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Usagef("%s takes one %s, got %s", cmd.CommandPath(), noun, strings.Join(args, " and "))
		}
		return noneEmpty(cmd, args)
	}
}

// Arguments requires one argument for each name.
func Arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := noneEmpty(cmd, args); err != nil || len(args) == len(names) {
			return err
		}
		return Usagef("%s takes %s, got %d arguments; see %s --help", cmd.CommandPath(), strings.Join(names, " and "), len(args), cmd.CommandPath())
	}
}

// Interruptible runs a command that ends when it is interrupted.
func Interruptible(run func(ctx context.Context, cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err := run(ctx, cmd, args)
		if err != nil && ctx.Err() != nil && cmd.Context().Err() == nil {
			return fmt.Errorf("interrupted: %w; nothing is lost: run the same command again", err)
		}
		return err
	}
}

// Say writes a line of a command's output.
func Say(cmd *cobra.Command, format string, args ...any) {
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...)
}

// JSON writes a value as the whole output of a command.
func JSON(cmd *cobra.Command, value any) error {
	encoder := json.NewEncoder(cmd.OutOrStdout())
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
