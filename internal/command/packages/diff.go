package packages

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// difference is what "package diff" finds, as JSON.
type difference struct {
	Operations []string            `json:"operations"`
	Changes    map[string][]string `json:"changes"`
}

func diffCommand(version string) *cobra.Command {
	r := reading{named: true}
	var i instance
	var form string
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what an upgrade from one package to another would change and interrupt",
		Long: `Shows the operations by which an instance of the package OLD would become one of NEW, what they do to
each VDU, and the fields that change, as operations and changes of a plan of vnf_instance do. Both
packages are rendered with the same arguments. It needs neither a VIM nor an instance.

Exit codes: 0 no matter whether something changes, 1 a package has errors, 2 it cannot be opened or
the command is written wrongly.`,
		Example: `  terraform-provider-vnf package diff examples/packages/hello hello-1.1
  terraform-provider-vnf package diff --level regional --output json examples/packages/core5g core5g-1.5`,
		Args: cli.Arguments("OLD", "NEW"),
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			from, err := i.spec()
			if err != nil {
				return err
			}
			return withEngine(version, func(e *lcm.Engine) error {
				to := from
				for n, spec := range []*vnfm.InstanceSpec{&from, &to} {
					p, err := r.read(ctx, cmd, e, args[n])
					if err != nil {
						return fmt.Errorf("%s: %w", args[n], err)
					}
					spec.PackageID = p.ID
				}
				planned, problems, err := e.DiffPackages(ctx, from, to)
				if err != nil {
					return err
				}
				for n, of := range problems {
					warn(cmd, args[n], of)
					if err := of.Err(); err != nil {
						return fmt.Errorf("%s: %w", args[n], err)
					}
				}
				if planned == nil {
					return fmt.Errorf("what an instance of these packages consists of depends on results of random functions, and is not known before it is made")
				}
				if form == cli.FormJSON {
					return cli.JSON(cmd, difference{planned.Operations, planned.Changes})
				}
				writeDifference(cmd, planned)
				return nil
			})
		}),
	}
	r.flags(cmd, signatures[1])
	i.flags(cmd)
	cli.Output(cmd, &form, cli.FormText, cli.FormJSON)
	return cmd
}

func writeDifference(cmd *cobra.Command, planned *vnfm.PlannedUpdate) {
	if len(planned.Operations)+len(planned.Changes) == 0 {
		cli.Say(cmd, "no difference")
	}
	for _, line := range planned.Operations {
		cli.Say(cmd, "%s", line)
	}
	for _, key := range slices.Sorted(maps.Keys(planned.Changes)) {
		cli.Say(cmd, "\n%s", key)
		for _, line := range planned.Changes[key] {
			cli.Say(cmd, "  %s", line)
		}
	}
}
