package lcm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// contentsPatience is how long a process waits for others that hold the lease of the
// contents, each of which needs it for some commits and deletions.
const contentsPatience = time.Minute

// withContents does what decides which contents the store has: it writes a record that
// names contents, or deletes the contents that no record names.
//
// Packages and charts with the same file share its content, which goes with the last of
// their records. A removal looks which contents no record names, and deletes them; a
// content that another process has written in between, and whose record is not there yet,
// would go with them. So both take one lease of the store. An upload can take long and is
// not under it: whoever writes a record finds out under the lease whether its contents are
// still there (lostContents), and uploads again when they are not. So holders need
// milliseconds, and nobody waits for a large package. The lease of a process that was
// killed is free as that of any object is; a process that lost it deletes nothing, since
// the store looks for that in the transaction of the deletion.
func (e *Engine) withContents(ctx context.Context, s store.Store, do func(ctx context.Context) error) error {
	// One at a time in this process, whose callers need not poll for the lease.
	select {
	case e.deciding <- struct{}{}:
		defer func() { <-e.deciding }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ctx, done, err := e.holdContents(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	return do(ctx)
}

// holdContents waits for the lease of the contents and takes it, as hold does.
func (e *Engine) holdContents(ctx context.Context, s store.Store) (work context.Context, done func(), err error) {
	err = vnfm.AwaitTurn(vnfm.WithPatience(ctx, contentsPatience), func() (err error) {
		work, done, err = e.hold(ctx, s, "contents", "the package contents of the store")
		return err
	})
	return work, done, err
}

// keepContents uploads contents and then writes the record that names them, both again
// when a removal has deleted one of them in between.
func (e *Engine) keepContents(ctx context.Context, s store.Store, upload func() (digests []string, err error), record func(ctx context.Context) error) error {
	for {
		digests, err := upload()
		if err != nil {
			return err
		}
		lost := false
		err = e.withContents(ctx, s, func(ctx context.Context) error {
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
// withContents.
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
	packages, err := list[packageRecord](ctx, s, store.Query{Kind: store.KindPackage})
	if err != nil {
		return nil, err
	}
	charts, err := list[chartRecord](ctx, s, store.Query{Kind: store.KindChart})
	if err != nil {
		return nil, err
	}
	needed := map[string]bool{}
	for _, p := range packages {
		if p.value.Removing {
			continue
		}
		for _, digest := range p.value.contents() {
			needed[digest] = true
		}
	}
	for _, c := range charts {
		needed[c.value.Digest] = needed[c.value.Digest] || !c.value.Removing
	}
	return needed, nil
}
