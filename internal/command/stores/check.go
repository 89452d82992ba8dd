package stores

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
)

func checkCommand(release string) *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:   "check [STORE]",
		Short: "Read every record and content of a store and name what is damaged",
		Long: `Reads every record and every content, and names each that is damaged. With the key, it
opens what is sealed, too, and compares contents with their digests. The key comes from
--key-file, from the environment variable ` + seal.EnvKey + `, or from the key file beside a
local store. Nothing is changed.

Exit codes: 0 sound, 1 damaged, 2 the store cannot be opened or the command is written wrongly.

` + Names,
		Example: `  terraform-provider-vnf store check
  terraform-provider-vnf store check --key-file /secure/key.txt postgres`,
		Args: oneStore,
		RunE: cli.Interruptible(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return withStore(ctx, named(args), release, func(s *place) error { return checkStore(ctx, cmd, s, keyFile) })
		}),
	}
	cmd.Flags().StringVar(&keyFile, "key-file", "", "`FILE` with the encryption key, as encryption.key_file of the provider names it")
	return cmd
}

// checker reads a store and counts what it finds.
type checker struct {
	cmd    *cobra.Command
	from   *place
	sealed *seal.Store // nil without a key

	records, contents, damaged int
	// unopened are those whose key is in a vault.
	unopened int
}

func checkStore(ctx context.Context, cmd *cobra.Command, s *place, keyFile string) error {
	keys, err := keyring(ctx, s, keyFile)
	if err != nil {
		return cli.Usage(err)
	}
	c := &checker{cmd: cmd, from: s}
	if keys != nil {
		c.sealed = seal.NewStore(unchanged{s.Portable}, keys)
	}
	records, digests, err := everythingIn(ctx, s)
	if err != nil {
		return err
	}
	for i := range records {
		c.record(ctx, &records[i])
	}
	for _, digest := range digests {
		c.content(ctx, digest)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	cli.Say(cmd, "%s: %d records, %d contents, %d damaged", s.name, c.records, c.contents, c.damaged)
	if keys == nil {
		cli.Say(cmd, "What is sealed was read and not opened: there is no key. Give it with --key-file or %s.", seal.EnvKey)
	}
	if c.unopened > 0 {
		cli.Say(cmd, "%d were not opened: their key is in Barbican.", c.unopened)
	}
	if c.damaged > 0 {
		return fmt.Errorf("%d objects of %s are damaged: restore a backup, or apply again, which repairs contents and records of what still exists", c.damaged, s.name)
	}
	return nil
}

// keyring returns the keys at hand, nil for none.
func keyring(ctx context.Context, s *place, keyFile string) (*seal.Keyring, error) {
	if keyFile == "" && os.Getenv(seal.EnvKey) == "" {
		if key, err := s.keyPlace().Load(ctx); err != nil || key == nil {
			return nil, err
		}
		return seal.New(seal.Source{DefaultKeyFile: s.keyFile, DefaultPlace: s.keyPlace()})
	}
	if keyFile != "" {
		if _, err := os.Stat(keyFile); err != nil {
			return nil, fmt.Errorf("reading the key file: %w", err)
		}
	}
	return seal.New(seal.Source{KeyFile: keyFile})
}

// found notes what was found in an object.
func (c *checker) found(ctx context.Context, what string, err error) {
	switch {
	case err == nil || ctx.Err() != nil:
	case errors.Is(err, seal.ErrInVault):
		c.unopened++
	default:
		c.damaged++
		cli.Say(c.cmd, "damaged: %s: %v", what, err)
	}
}

func (c *checker) record(ctx context.Context, r *store.Record) {
	c.records++
	var err error
	switch {
	case len(r.Data) > 0 && !json.Valid(r.Data):
		err = errors.New("its data is not JSON")
	case c.sealed != nil:
		err = c.sealed.Verify(ctx, r)
	}
	c.found(ctx, fmt.Sprintf("%s %q", r.Kind, r.ID), err)
}

func (c *checker) content(ctx context.Context, digest string) {
	c.contents++
	open := c.from.OpenEncoded
	if c.sealed != nil {
		open = c.sealed.OpenBlob
	}
	r, err := open(ctx, digest)
	if err == nil {
		_, err = io.Copy(io.Discard, reader{ctx, r})
		err = errors.Join(err, r.Close())
	}
	c.found(ctx, "content "+digest, err)
}

// unchanged is a store whose records stay as they are, also those whose key a keyring would
// renew: it takes this for the work of another process.
type unchanged struct{ store.Portable }

func (unchanged) Update(context.Context, *store.Record) error { return store.ErrStale }
