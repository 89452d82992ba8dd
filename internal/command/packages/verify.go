package packages

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
)

func verifyCommand(version string) *cobra.Command {
	var r reading
	cmd := &cobra.Command{
		Use:   "verify --roots FILE PACKAGE",
		Short: "Verify the digests and the signature of a package",
		Long: `Verifies the digest of each file and that a signer whom the trust roots lead to has signed all of them,
as vnf_package does with signature = "require".

Exit codes: 0 verified, 1 not, 2 the package cannot be opened or the command is written wrongly.`,
		Example: `  terraform-provider-vnf package verify --roots root.pem core5g.csar`,
		Args:    cli.Arguments("PACKAGE"),
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if r.roots == "" && r.signature == signatures[0] {
				return cli.Usagef("--roots FILE is needed: without trust roots no signer is trusted; see %s --help", cmd.CommandPath())
			}
			return withEngine(version, func(e *lcm.Engine) error {
				p, err := r.read(ctx, cmd, e, args[0])
				if err != nil {
					return err
				}
				if p.Signer == "" && r.signature == signatures[0] {
					return errors.New("the signature does not cover all files, so that no signer is known")
				}
				cli.Say(cmd, "digest  %s\nsigner  %s\noption  %s", p.Digest, cmp.Or(p.Signer, "none"), cmp.Or(p.SecurityOption, "none"))
				return nil
			})
		}),
	}
	r.flags(cmd, signatures[0])
	return cmd
}
