package stores

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// source is what a copy is made of: a store or a backup.
type source interface {
	Name() string
	List(ctx context.Context, q store.Query) ([]store.Record, error)
	Contents(ctx context.Context) ([]string, error)
	OpenEncoded(ctx context.Context, digest string) (io.ReadCloser, error)
}

const (
	// lot is how many records are imported at once.
	lot = 100
	// mostNamed is how many objects an error names.
	mostNamed = 10
)

// result counts what a copy has done.
type result struct {
	records, contents int
	// before are those that were in the target already.
	recordsBefore, contentsBefore int
	bytes                         int64
	// left says which contents are too large for the target, and where each is read instead.
	left []string
}

func (r result) String() string {
	text := fmt.Sprintf("%d records and %d contents (%d bytes) copied and verified", r.records, r.contents, r.bytes)
	if r.recordsBefore+r.contentsBefore > 0 {
		text += fmt.Sprintf("; %d records and %d contents were there already", r.recordsBefore, r.contentsBefore)
	}
	return text
}

// key names a record.
type key struct {
	kind store.Kind
	id   string
}

func byKey(records []store.Record) map[key]*store.Record {
	m := make(map[key]*store.Record, len(records))
	for i := range records {
		m[key{records[i].Kind, records[i].ID}] = &records[i]
	}
	return m
}

// differs says in what two records of the same id differ, empty for nothing.
func differs(a, b *store.Record) string {
	switch {
	case a.Revision != b.Revision:
		return fmt.Sprintf("revision %d here, %d there", a.Revision, b.Revision)
	case a.Key != b.Key:
		return "natural key"
	case a.Owner != b.Owner:
		return "owner"
	case !bytes.Equal(a.Data, b.Data):
		return "data"
	case !bytes.Equal(a.Sealed, b.Sealed):
		return "sealed values"
	case !a.CreatedAt.Equal(b.CreatedAt) || !a.UpdatedAt.Equal(b.UpdatedAt):
		return "times"
	default:
		return ""
	}
}

// copyStore copies everything that the target lacks, contents first, so that no record lacks
// its contents, and compares all of it. It can be interrupted and repeated. Before it writes
// anything, it refuses a target that has something else under the same ids, or that cannot keep a content which is nowhere else.
func copyStore(ctx context.Context, from source, to *place) (result, error) {
	var r result
	records, err := from.List(ctx, store.Query{})
	if err != nil {
		return r, err
	}
	missing, err := missingRecords(ctx, records, from, to)
	if err != nil {
		return r, err
	}
	sums, absent, err := missingContents(ctx, from, to)
	if err != nil {
		return r, err
	}
	if absent, r.left, err = leaveLarge(ctx, from, to, absent, records); err != nil {
		return r, err
	}
	r.recordsBefore, r.contentsBefore = len(records)-len(missing), len(sums)
	for _, digest := range absent {
		sum, size, err := copyContent(ctx, from, to, digest)
		if tooLarge, ok := errors.AsType[*store.TooLargeError](err); ok {
			r.left = append(r.left, fmt.Sprintf("%v; no record names it", tooLarge))
			continue
		}
		if err != nil {
			return r, err
		}
		sums[digest] = sum
		r.contents++
		r.bytes += size
	}
	for at := 0; at < len(missing); at += lot {
		part := missing[at:min(at+lot, len(missing))]
		if err := to.Import(ctx, part...); err != nil {
			if errors.Is(err, store.ErrExists) {
				err = fmt.Errorf("%w: another record of the target has its natural key, or another process writes to the target", err)
			}
			return r, fmt.Errorf("%s: %w", to.name, err)
		}
		r.records += len(part)
	}
	return r, verify(ctx, from, to, sums)
}

// missingRecords returns the records that the target lacks, in their order.
func missingRecords(ctx context.Context, records []store.Record, from source, to *place) ([]store.Record, error) {
	existing, err := to.List(ctx, store.Query{})
	if err != nil {
		return nil, err
	}
	there := byKey(existing)
	var missing []store.Record
	var conflicts []string
	for i := range records {
		r := &records[i]
		other := there[key{r.Kind, r.ID}]
		if other == nil {
			missing = append(missing, *r)
		} else if what := differs(r, other); what != "" {
			conflicts = append(conflicts, fmt.Sprintf("%s %q (%s)", r.Kind, r.ID, what))
		}
	}
	return missing, conflict(from, to, "records", conflicts)
}

// conflict is the error of a target that has something else.
func conflict(from source, to *place, noun string, conflicts []string) error {
	if len(conflicts) == 0 {
		return nil
	}
	return fmt.Errorf("%s has other %s than %s under the same ids: %s: nothing was written; choose an empty target", to.name, noun, from.Name(), list(conflicts))
}

// list names some of many.
func list(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}

// missingContents returns the sums of the contents that both have, and the digests of those
// that the target lacks.
func missingContents(ctx context.Context, from source, to *place) (sums map[string]string, absent []string, err error) {
	digests, err := from.Contents(ctx)
	if err != nil {
		return nil, nil, err
	}
	existing, err := to.Contents(ctx)
	if err != nil {
		return nil, nil, err
	}
	there := map[string]bool{}
	for _, digest := range existing {
		there[digest] = true
	}
	sums = map[string]string{}
	var conflicts []string
	for _, digest := range digests {
		if !there[digest] {
			absent = append(absent, digest)
			continue
		}
		sum, err := sumOf(ctx, from, digest)
		if err != nil {
			return nil, nil, err
		}
		other, err := sumOf(ctx, to, digest)
		if err != nil {
			return nil, nil, err
		}
		if sum != other {
			conflicts = append(conflicts, digest)
		}
		sums[digest] = sum
	}
	return sums, absent, conflict(from, to, "contents", conflicts)
}

// sumOf is the SHA-256 of a content as it is kept.
func sumOf(ctx context.Context, s source, digest string) (string, error) {
	r, err := s.OpenEncoded(ctx, digest)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s.Name(), err)
	}
	sum := sha256.New()
	_, err = io.Copy(sum, reader{ctx, r})
	if err := errors.Join(err, r.Close()); err != nil {
		return "", fmt.Errorf("%s: reading the content %s: %w", s.Name(), digest, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// copyContent copies a content as it is kept.
func copyContent(ctx context.Context, from source, to *place, digest string) (sum string, size int64, err error) {
	err = to.PutEncoded(ctx, digest, func(w io.Writer) error {
		r, err := from.OpenEncoded(ctx, digest)
		if err != nil {
			return err
		}
		hash := sha256.New()
		size, err = io.Copy(io.MultiWriter(w, hash), reader{ctx, r})
		sum = hex.EncodeToString(hash.Sum(nil))
		return errors.Join(err, r.Close())
	})
	if err != nil {
		return "", 0, fmt.Errorf("copying the content %s from %s: %w", digest, from.Name(), err)
	}
	return sum, size, nil
}

// verify reads both sides again and compares them.
func verify(ctx context.Context, from source, to *place, sums map[string]string) error {
	records, err := from.List(ctx, store.Query{})
	if err != nil {
		return err
	}
	copied, err := to.List(ctx, store.Query{})
	if err != nil {
		return err
	}
	there := byKey(copied)
	var wrong []string
	for i := range records {
		r := &records[i]
		if other := there[key{r.Kind, r.ID}]; other == nil || differs(r, other) != "" {
			wrong = append(wrong, fmt.Sprintf("%s %q", r.Kind, r.ID))
		}
	}
	for digest, sum := range sums {
		got, err := sumOf(ctx, to, digest)
		if err != nil {
			return err
		}
		if got != sum {
			wrong = append(wrong, "content "+digest)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%s and %s are not alike after the copy: %s: the source or the target was written meanwhile; run the same command again when no run uses them", from.Name(), to.name, list(wrong))
	}
	return nil
}
