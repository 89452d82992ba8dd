package catalog

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

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
// when the contents are still there: no other process has had it meanwhile, or the contents are found.
func (c *Catalog) keepContents(ctx context.Context, s store.Store, upload func() (digests []string, err error), record func(ctx context.Context) error) error {
	for {
		began := time.Now()
		digests, err := upload()
		if err != nil {
			return err
		}
		lost := false
		err = c.cfg.WithReferences(ctx, s, func(ctx context.Context) error {
			if !store.KeepsContents(ctx, s, began) {
				if lost, err = lostContents(ctx, s, digests); err != nil || lost {
					return err
				}
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
	var lost atomic.Bool
	all, looking := errgroup.WithContext(ctx)
	all.SetLimit(lookedAtOnce)
	for _, digest := range digests {
		all.Go(func() error {
			content, err := s.OpenBlob(looking, digest)
			if errors.Is(err, store.ErrNotFound) {
				lost.Store(true)
				return nil
			}
			if err == nil {
				err = content.Close()
			}
			if err != nil {
				return fmt.Errorf("looking for the content %s: %w", digest, err)
			}
			return nil
		})
	}
	err := all.Wait()
	return err == nil && lost.Load(), err
}

// lookedAtOnce bounds the contents that are looked for, or deleted, at once: some of them are read in part.
const lookedAtOnce = 8

// deleteContents deletes those of the contents that no record names. It is called under
// Config.WithReferences.
func deleteContents(ctx context.Context, s store.Store, digests ...string) error {
	needed, err := neededContents(ctx, s, "")
	if err != nil {
		return err
	}
	return deleteUnneeded(ctx, s, needed, digests...)
}

// lookAtUnneeded has the store look at the first contents that deleteUnneeded will delete.
func lookAtUnneeded(ctx context.Context, s store.Store, needed map[string]bool, digests []string) {
	var wanted []store.Wanted
	for _, digest := range digests {
		if !needed[digest] && len(wanted) < lookedAtOnce {
			wanted = append(wanted, store.Wanted{Content: digest})
		}
	}
	store.ReadAhead(ctx, s, wanted...)
}

// deleteUnneeded deletes those of the contents that are not needed.
func deleteUnneeded(ctx context.Context, s store.Store, needed map[string]bool, digests ...string) error {
	all, deleting := errgroup.WithContext(ctx)
	all.SetLimit(lookedAtOnce)
	for _, digest := range digests {
		if needed[digest] {
			continue
		}
		all.Go(func() error {
			if err := s.DeleteBlob(deleting, digest); err != nil {
				return fmt.Errorf("removing the content %s: %w", digest, err)
			}
			return nil
		})
	}
	return all.Wait()
}

// neededContents are the digests of the contents that packages, but for one that is being removed, and charts have.
func neededContents(ctx context.Context, s store.Store, removing string) (map[string]bool, error) {
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
		if p.Value.Removing || p.Rec.ID == removing {
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
