package catalog

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// keepContents uploads contents and then writes the record that names them, both again
// when a removal has deleted one of them in between.
//
// Packages and charts with the same file share its content, which goes with the last of
// their records. A content whose record is not there yet would go with them. An upload can
// take long and is not under the lease of the references: the record is written under it,
// when the contents are still there.
func (c *Catalog) keepContents(ctx context.Context, s store.Store, upload func() (digests []string, err error), record func(ctx context.Context) error) error {
	for {
		digests, err := upload()
		if err != nil {
			return err
		}
		lost := false
		err = c.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
			if lost, err = lostContents(ctx, s, digests); err != nil || lost {
				return err
			}
			return record(ctx)
		})
		if err != nil || !lost {
			return err
		}
	}
}

// lostContents reports whether one of the contents is not in the store.
func lostContents(ctx context.Context, s store.Store, digests []string) (bool, error) {
	for _, digest := range digests {
		content, err := s.OpenBlob(ctx, digest)
		if errors.Is(err, store.ErrNotFound) {
			return true, nil
		}
		if err == nil {
			err = content.Close()
		}
		if err != nil {
			return false, fmt.Errorf("looking for the content %s: %w", digest, err)
		}
	}
	return false, nil
}

// deleteContents deletes those of the contents that no record names. It is called under
// Config.WithReferences.
func deleteContents(ctx context.Context, s store.Store, digests ...string) error {
	needed, err := neededContents(ctx, s)
	if err != nil {
		return err
	}
	for _, digest := range digests {
		if needed[digest] {
			continue
		}
		if err := s.DeleteBlob(ctx, digest); err != nil {
			return fmt.Errorf("removing the content %s: %w", digest, err)
		}
	}
	return nil
}

// neededContents are the digests of the contents that packages and charts have.
func neededContents(ctx context.Context, s store.Store) (map[string]bool, error) {
	var packages []*records.Entry[packageRecord]
	var charts []*records.Entry[chartRecord]
	both, reading := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		packages, err = records.List[packageRecord](reading, s, store.Query{Kind: store.KindPackage})
		return err
	})
	both.Go(func() (err error) {
		charts, err = records.List[chartRecord](reading, s, store.Query{Kind: store.KindChart})
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	for _, p := range packages {
		if p.Value.Removing {
			continue
		}
		for _, digest := range p.Value.contents() {
			needed[digest] = true
		}
	}
	for _, c := range charts {
		needed[c.Value.Digest] = needed[c.Value.Digest] || !c.Value.Removing
	}
	return needed, nil
}
