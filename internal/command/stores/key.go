package stores

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
)

// keyPlace is where the provider has the key of a store when nothing else is said: in a file beside a local one, and in any other itself.
func (p *place) keyPlace() seal.KeyPlace {
	if p.keyFile != "" {
		return seal.KeyFile(p.keyFile)
	}
	return seal.KeyIn(func(context.Context) (store.Store, error) { return p.Portable, nil })
}

// copyKey puts the key of a store where the provider looks for that of another one, and says which key that one needs.
func copyKey(ctx context.Context, cmd *cobra.Command, from, to *place) error {
	key, err := from.keyPlace().Load(ctx)
	if err != nil {
		return fmt.Errorf("reading %s: %w", from.keyPlace(), err)
	}
	if key == nil {
		cli.Say(cmd, "What is sealed needs the key that the provider argument encryption or %s names: keep it for the new store.", seal.EnvKey)
		return nil
	}
	kept, err := to.keyPlace().Create(ctx, key)
	switch {
	case err != nil:
		return fmt.Errorf("copying the key: %w", err)
	case !bytes.Equal(kept, key):
		cli.Say(cmd, "What is sealed needs %s, and %s is another key: set encryption.key_file of the provider to a file that has both.", from.keyPlace(), to.keyPlace())
	default:
		cli.Say(cmd, "The key was copied as well: %s is now %s. Where the provider argument encryption names a key, keep that.", from.keyPlace(), to.keyPlace())
	}
	return nil
}

// keyless is a store without the key that it keeps itself, which has a place of its own in each kind of store.
type keyless struct{ *place }

// List implements source.
func (k keyless) List(ctx context.Context, q store.Query) ([]store.Record, error) {
	records, err := k.place.List(ctx, q)
	return slices.DeleteFunc(records, func(r store.Record) bool { return seal.IsKeyOfStore(&r) }), err
}
