package packages

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The forms in which "package inspect" shows a package.
const (
	formTable   = "table"
	formMermaid = "mermaid"
	formSVG     = "svg"
)

func inspectCommand(version string) *cobra.Command {
	var r reading
	var form, flavourID string
	cmd := &cobra.Command{
		Use:   "inspect PACKAGE",
		Short: "Show what a package consists of",
		Long: `Shows the deployment flavours of a package: VDUs with their numbers of instances, connection
points, virtual links, scaling aspects, instantiation levels and operations. As Mermaid or SVG
it draws the VDUs of one flavour on their virtual links.

Exit codes: 0 the package can be used, 1 it has errors, 2 it cannot be opened or the command is
written wrongly.`,
		Example: `  terraform-provider-vnf package inspect examples/packages/core5g
  terraform-provider-vnf package inspect --output svg examples/packages/firewall > firewall.svg`,
		Args: cli.Arguments("PACKAGE"),
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return withEngine(version, func(e *lcm.Engine) error {
				p, err := r.read(ctx, cmd, e, args[0])
				if err != nil {
					return err
				}
				t := newTopology(p)
				if err := t.addWorkloads(ctx, e, p); err != nil {
					return err
				}
				return show(cmd, t, form, flavourID)
			})
		}),
	}
	r.flags(cmd, signatures[1])
	cli.Output(cmd, &form, formTable, cli.FormJSON, formMermaid, formSVG)
	cmd.Flags().StringVar(&flavourID, "flavour", "", "`ID` of the deployment flavour that is drawn; by default the default one, or else the first")
	return cmd
}

// addWorkloads says which workload each VDU is, where a flavour can be rendered with its defaults.
func (t *topology) addWorkloads(ctx context.Context, e *lcm.Engine, p *vnfm.Package) error {
	for i := range t.Flavours {
		f := &t.Flavours[i]
		if !p.HasContainers(p.Descriptor.Flavour(f.ID)) {
			continue
		}
		rendered, problems, err := e.RenderInstance(ctx, vnfm.InstanceSpec{PackageID: p.ID, FlavourID: f.ID, OperationalState: vnfm.Started})
		if err != nil {
			return err
		}
		if problems.HasErrors() {
			continue // "package lint" reports them.
		}
		for j := range f.VDUs {
			if state, ok := rendered.VDUs[f.VDUs[j].ID]; ok {
				f.VDUs[j].Kind, f.VDUs[j].Workload = state.Kind, state.Name
			}
		}
	}
	return nil
}

// show writes a topology in a form.
func show(cmd *cobra.Command, t *topology, form, flavourID string) error {
	switch form {
	case cli.FormJSON:
		return cli.JSON(cmd, t)
	case formTable:
		_, err := io.WriteString(cmd.OutOrStdout(), table(t))
		return err
	}
	f, err := t.drawn(flavourID)
	if err != nil {
		return err
	}
	text := mermaid(f)
	if form == formSVG {
		text = svg(f)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// drawn is the flavour that is drawn.
func (t *topology) drawn(id string) (*flavour, error) {
	if id == "" {
		id = t.DefaultFlavour
	}
	var ids []string
	for i := range t.Flavours {
		if ids = append(ids, t.Flavours[i].ID); id == "" || t.Flavours[i].ID == id {
			return &t.Flavours[i], nil
		}
	}
	return nil, cli.Usagef("the package has no deployment flavour %q; it has %s", id, vnfm.QuotedNames(ids))
}
