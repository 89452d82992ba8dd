// Package command is the command line of the provider's binary: Terraform starts it without
// arguments, people with the name of a command.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// The exit codes besides 0.
const (
	// ExitFailure says that a command failed, or found damage.
	ExitFailure = 1
	// ExitUsage says that a command did not begin: it was written wrongly, or a store or file
	// that it names cannot be opened.
	ExitUsage = 2
)

const programName = "terraform-provider-vnf"

// Program is the provider's binary.
type Program struct {
	Version string
	// Serve serves the provider to Terraform, or to one session of a debugger.
	Serve func(ctx context.Context, debug bool) error
}

// Run does what the arguments say and returns the exit code.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := p.root() //nolint:contextcheck // cobra hands the context to the commands.
	root.SetArgs(twoDashes(args))
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "Error: %v\n", err)
	if errors.As(err, new(*usageError)) {
		return ExitUsage
	}
	return ExitFailure
}

// twoDashes lets -debug be written as it always was.
func twoDashes(args []string) []string {
	if len(args) > 0 && (args[0] == "-debug" || strings.HasPrefix(args[0], "-debug=")) {
		return append([]string{"-" + args[0]}, args[1:]...)
	}
	return args
}

// usageError is an error that a command ends with before it does anything.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err: err}
}

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

func (p Program) root() *cobra.Command {
	var debug bool
	root := &cobra.Command{
		Use:   programName,
		Short: "Terraform provider for network functions, with commands for its store",
		Long: "terraform-provider-vnf is started by Terraform, without arguments.\n" +
			"The commands below are for people: they work on the store, where the provider keeps its records.",
		Version:       p.Version,
		Args:          noArguments,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return p.Serve(cmd.Context(), debug) },
	}
	root.Flags().BoolVar(&debug, "debug", false, "serve one debugger session: print TF_REATTACH_PROVIDERS and wait")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(p.store())
	return root
}

// store is the group of the commands about stores.
func (p Program) store() *cobra.Command {
	group := &cobra.Command{
		Use:   "store",
		Short: "Move, check, back up and restore the store",
		Long:  "The store holds the provider's records, package contents and leases.\n\n" + storeNames,
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	group.AddCommand(migrateCommand(p.Version), checkCommand(p.Version), backupCommand(p.Version), restoreCommand(p.Version))
	return group
}

// noArguments refuses arguments of a command that has none, such as the name of another
// command that is misspelled.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("%s has no command or argument %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath())
}

// oneStore takes the name of a store, or none.
func oneStore(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%s takes one store, got %s", cmd.CommandPath(), strings.Join(args, " and "))
	}
	return nil
}

// interruptible runs a command that ends when it is interrupted.
func interruptible(run func(ctx context.Context, cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
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

// say writes a line of a command's output.
func say(cmd *cobra.Command, format string, args ...any) {
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), format+"\n", args...)
}
