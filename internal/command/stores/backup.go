package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func backupCommand(release string) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "backup [STORE] --file FILE",
		Short: "Write all records and contents of a store into one file",
		Long: `Writes all records and contents of a store into a new file that its owner alone can read.
Sealed values and contents stay sealed: keep the key apart from the backup, and keep it, for
without it the backup opens nothing.

` + Names,
		Example: `  terraform-provider-vnf store backup --file vnf-store.zip
  terraform-provider-vnf store backup postgres --file vnf-store.zip`,
		Args: oneStore,
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if file == "" {
				return cli.Usagef("--file FILE is needed: the file that is written")
			}
			return withStore(ctx, named(args), release, func(s *place) error { return backup(ctx, cmd, s, file, release) })
		}),
	}
	cmd.Flags().StringVar(&file, "file", "", "`FILE` that is written; it must not exist")
	return cmd
}

func backup(ctx context.Context, cmd *cobra.Command, s *place, file, release string) error {
	held, err := s.HeldLeases(ctx)
	if err != nil {
		return cli.Usage(err)
	}
	m, err := writeArchive(ctx, s, file, release)
	if err != nil {
		return err
	}
	cli.Say(cmd, "%s -> %s: %d records and %d contents", s.name, file, m.Records, len(m.ContentsSHA256))
	if len(held) > 0 {
		cli.Say(cmd, "A run was at work (%s): the backup shows it half-way, as an interruption would.", holders(held))
	}
	return nil
}

func restoreCommand(release string) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "restore [STORE] --file FILE",
		Short: "Read a backup into an empty store",
		Long: `Reads a file that "store backup" has written into an empty store, and verifies it. An
interrupted restore continues when the same command runs again. A store that holds anything
else is refused. The target needs the key of the store that was backed up.

` + Names,
		Example: `  terraform-provider-vnf store restore --file vnf-store.zip
  terraform-provider-vnf store restore postgres:vnf_new --file vnf-store.zip`,
		Args: oneStore,
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if file == "" {
				return cli.Usagef("--file FILE is needed: the backup that is read")
			}
			return restore(ctx, cmd, named(args), file, release)
		}),
	}
	cmd.Flags().StringVar(&file, "file", "", "backup `FILE` that is read")
	return cmd
}

func restore(ctx context.Context, cmd *cobra.Command, name, file, release string) (err error) {
	a, err := openArchive(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	s, err := openPlace(ctx, name, release, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := onlyOf(ctx, a, s); err != nil {
		return err
	}
	done, err := copyStore(ctx, a, s)
	if err != nil {
		return err
	}
	cli.Say(cmd, "%s of %s -> %s: %s", a.Name(), a.manifest.Created.Format("2006-01-02 15:04 MST"), s.name, done)
	sayLeft(cmd, done)
	return nil
}

// everythingIn are the records of a store, and the digests of its contents.
func everythingIn(ctx context.Context, s *place) (records []store.Record, digests []string, err error) {
	if records, err = s.List(ctx, store.Query{}); err != nil {
		return nil, nil, cli.Usage(err)
	}
	if digests, err = s.Contents(ctx); err != nil {
		return nil, nil, cli.Usage(err)
	}
	return records, digests, nil
}

// onlyOf refuses a store that has what a backup has not.
func onlyOf(ctx context.Context, a *archive, s *place) error {
	records, digests, err := everythingIn(ctx, s)
	if err != nil {
		return err
	}
	known := byKey(a.records)
	var others []string
	for i := range records {
		if known[key{records[i].Kind, records[i].ID}] == nil {
			others = append(others, fmt.Sprintf("%s %q", records[i].Kind, records[i].ID))
		}
	}
	for _, digest := range digests {
		if _, ok := a.manifest.ContentsSHA256[digest]; !ok {
			others = append(others, "content "+digest)
		}
	}
	if len(others) > 0 {
		return cli.Usagef("%s is not empty: %s: nothing was written; name a store that is not there yet", s.name, list(others))
	}
	return nil
}
