package stores

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func migrateCommand(release string) *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "migrate --from STORE --to STORE",
		Short: "Copy everything from one store to another and verify it",
		Long: `Copies all records and contents from one store to another, compares both, and leaves the
first one as it is. Sealed values and contents are copied as they are. The key that the provider
has made for the first one, in key.txt beside a local store or in any other store itself, is
copied too. A key that the configuration names is needed for the target as well. Leases are not copied; a run that works on the source must end first.

An interrupted migration continues when the same command runs again. A target that has other
records or contents under the same ids is refused before anything is written. A file of a
package that is too large for the target is named and left out: the provider reads it from the
source of the package when it needs it. Where the record does not know that source, and for a
chart, the target is refused before anything is written.

` + Names,
		Example: `  # From this machine to a team's database
  export PG_CONN_STR=postgres://vnf@db.example.com/infra
  terraform-provider-vnf store migrate --from ~/.local/state/terraform-provider-vnf/store.db --to postgres`,
		Args: cli.NoArguments,
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, _ []string) error {
			if from == "" || to == "" {
				return cli.Usagef("both --from STORE and --to STORE are needed; see %s --help", cmd.CommandPath())
			}
			return migrate(ctx, cmd, from, to, release)
		}),
	}
	cmd.Flags().StringVar(&from, "from", "", "`STORE` that is copied")
	cmd.Flags().StringVar(&to, "to", "", "`STORE` that receives the copy")
	return cmd
}

func migrate(ctx context.Context, cmd *cobra.Command, fromName, toName, release string) (err error) {
	from, err := openPlace(ctx, fromName, release, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := openPlace(ctx, toName, release, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()

	if from.name == to.name {
		return cli.Usagef("both stores are the same: %s", from.name)
	}
	if err := idle(ctx, from); err != nil {
		return err
	}
	records, err := from.List(ctx, store.Query{})
	if err != nil {
		return cli.Usage(err)
	}
	if len(records) == 0 {
		return cli.Usagef("%s has no records: there is nothing to migrate", from.name)
	}
	done, err := copyStore(ctx, keyless{from}, to)
	if err != nil {
		return err
	}
	if err := idle(ctx, from); err != nil {
		return fmt.Errorf("everything was copied, but a run has begun meanwhile: run the same command again when it has ended: %w", err)
	}
	cli.Say(cmd, "%s -> %s: %s", from.name, to.name, done)
	sayLeft(cmd, done)
	if err := copyKey(ctx, cmd, from, to); err != nil {
		return err
	}
	cli.Say(cmd, "Change the provider argument store in every configuration that uses the old store, and remove that when all of them have been applied.")
	return nil
}

// sayLeft names the contents that were left out.
func sayLeft(cmd *cobra.Command, done result) {
	for _, left := range done.left {
		cli.Say(cmd, "left out: %s", left)
	}
}

// idle refuses a store on which a run works.
func idle(ctx context.Context, s *place) error {
	held, err := s.HeldLeases(ctx)
	if err != nil {
		return cli.Usage(err)
	}
	if len(held) == 0 {
		return nil
	}
	return fmt.Errorf("a run works on %s: %s; wait until it has ended", s.name, holders(held))
}

// holders says who holds leases.
func holders(held []store.HeldError) string {
	texts := make([]string, 0, len(held))
	for _, h := range held {
		texts = append(texts, fmt.Sprintf("%q is held by %s since %s", h.Name, h.Holder, h.Since.UTC().Format(time.RFC3339)))
	}
	return strings.Join(texts, ", ")
}
