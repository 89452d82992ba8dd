// Package stores has the commands that move, check, back up and restore the provider's store.
package stores

import (
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
var oneStore = cli.OneAtMost("store")
