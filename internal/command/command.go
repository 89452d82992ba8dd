// Package command is the command line of the provider's binary: Terraform starts it without
// arguments, people with the name of a command.
package command

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/operations"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/packages"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/requests"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/stores"
	"github.com/nfv-iac/terraform-provider-vnf/internal/command/vims"
)

// Program is the provider's binary.
type Program struct {
	Version string
	// Serve serves the provider to Terraform, or to one session of a debugger.
	Serve func(ctx context.Context, debug bool) error
}

// Run does what the arguments say and returns the exit code.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Run(ctx, p.root(), twoDashes(args), stdout, stderr) //nolint:contextcheck // cobra hands the context to the commands.
}

// twoDashes lets -debug be written as it always was.
func twoDashes(args []string) []string {
	if len(args) > 0 && (args[0] == "-debug" || strings.HasPrefix(args[0], "-debug=")) {
		return append([]string{"-" + args[0]}, args[1:]...)
	}
	return args
}

func (p Program) root() *cobra.Command {
	var debug bool
	root := &cobra.Command{
		Use:   "terraform-provider-vnf",
		Short: "Terraform provider for network functions, with commands for packages, operations and its store",
		Long: "terraform-provider-vnf is started by Terraform, without arguments.\n" +
			"The commands below are for people and pipelines. They need no Terraform.",
		Version: p.Version,
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return p.Serve(cmd.Context(), debug) },
	}
	root.Flags().BoolVar(&debug, "debug", false, "serve one debugger session: print TF_REATTACH_PROVIDERS and wait")
	root.AddCommand(packages.Command(p.Version), requests.Command(), vims.Command(p.Version), operations.Command(p.Version), stores.Command(p.Version))
	return root
}
