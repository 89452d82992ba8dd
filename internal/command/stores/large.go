package stores

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/catalog"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// leaveLarge returns the contents that the target can keep, and says which others are read from the sources of their packages from
// then on. A content that can be read nowhere else is an error.
func leaveLarge(ctx context.Context, from source, to *place, digests []string, records []store.Record) (kept, left []string, err error) {
	limit := store.MaxContent(to.Portable)
	if limit == 0 {
		return digests, nil, nil
	}
	references := catalog.References(records)
	var refused []string
	for _, digest := range digests {
		r, named := references[digest]
		large := false
		if named {
			if large, err = exceeds(ctx, from, digest, r.Size, limit); err != nil {
				return nil, nil, err
			}
		}
		switch {
		case !large:
			kept = append(kept, digest)
		case r.Source == "":
			refused = append(refused, r.String())
		default:
			left = append(left, fmt.Sprintf("%s, which is read from %s when it is needed", r, r.Source))
		}
	}
	if len(refused) > 0 {
		return nil, nil, fmt.Errorf("%s keeps contents of at most %d bytes, and %s has larger ones that are nowhere else: %s: nothing was written; "+
			"onboard such a package from a path, or from a URL without a user name and query, which is noted and read again, make such a chart smaller, "+
			"or choose a store that keeps larger contents: a local store has no bound", to.name, limit, from.Name(), list(refused))
	}
	return kept, left, nil
}

// sealingPart is the part of the size of a content that sealing adds at most, beyond what a small content has.
const sealingPart = 1000

// exceeds reports whether a content of a size is larger than a limit in the form in which it is copied, which is looked at when the size
// alone does not tell.
func exceeds(ctx context.Context, from source, digest string, size, limit int64) (bool, error) {
	if size > limit || size+size/sealingPart+1<<10 <= limit {
		return size > limit, nil
	}
	r, err := from.OpenEncoded(ctx, digest)
	if err != nil {
		return false, fmt.Errorf("%s: %w", from.Name(), err)
	}
	encoded, err := io.Copy(io.Discard, reader{ctx, r})
	if err := errors.Join(err, r.Close()); err != nil {
		return false, fmt.Errorf("%s: reading the content %s: %w", from.Name(), digest, err)
	}
	return encoded > limit, nil
}
