// Package stores has the commands that move, check, back up and restore the provider's store.
package stores

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
)

// Command is the group of the commands about stores. The release is that of the provider.
func Command(release string) *cobra.Command {
	return cli.Group("store", "Move, check, back up and restore the store",
		"The store holds the provider's records, package contents and leases.\n\n"+Names,
		migrateCommand(release), checkCommand(release), backupCommand(release), restoreCommand(release))
}

// oneStore takes the name of a store, or none.
func oneStore(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return cli.Usagef("%s takes one store, got %s", cmd.CommandPath(), strings.Join(args, " and "))
	}
	return nil
}
