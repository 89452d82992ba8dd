// Package records reads and writes the records of the store as values.
package records

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ReferencesLease is the name of the lease of the references between records.
const ReferencesLease = "references"

// VIMLease is the name of the lease of a VIM.
func VIMLease(id string) string { return "vim/" + id }

// nouns name the kinds of records.
var nouns = map[store.Kind]string{
	store.KindVIM:          "VIM",
	store.KindPackage:      "VNF package",
	store.KindInstance:     "VNF instance",
	store.KindOperation:    "LCM operation",
	store.KindDryRun:       "dry run",
	store.KindPlan:         "plan",
	store.KindCancellation: "cancellation",
	store.KindReport:       "report",
	store.KindChart:        "Helm chart",
	store.KindRegistry:     "private registry",
	store.KindKey:          "key",
}

// Noun names a kind of records in texts for people.
func Noun(kind store.Kind) string { return nouns[kind] }

// NotFound is the error of a record that is not in the store.
func NotFound(kind store.Kind, id string) error {
	return &vnfm.NotFoundError{Kind: nouns[kind], ID: id}
}

// Entry is a decoded record together with what the store needs to replace it.
type Entry[T any] struct {
	Value T
	// Rec.Data is what was read or written last.
	Rec store.Record
}

// Decode decodes a record and checks it.
func Decode[T any](rec store.Record) (*Entry[T], error) {
	out := &Entry[T]{Rec: rec}
	err := json.Unmarshal(rec.Data, &out.Value)
	if err == nil {
		err = checkRecord(&out.Value, rec.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("the record of %s %q is damaged in the store: %w; restore a backup of the store, or move the store away and apply: that writes all records again", nouns[rec.Kind], rec.ID, err)
	}
	return out, nil
}

// selfChecking is a record that checks itself whether it has what its users rely on.
type selfChecking interface{ CheckRecord(id string) error }

func checkRecord(value any, id string) error {
	switch v := value.(type) {
	case selfChecking:
		return v.CheckRecord(id)
	case *vnfm.Instance:
		return CheckID(v.ID, id)
	case *vnfm.Operation:
		return CheckID(v.ID, id)
	case *vnfm.Registry:
		return CheckID(v.ID, id)
	case *vnfm.Report:
		return CheckID(v.Operation.ID, id)
	default:
		return nil
	}
}

// CheckID checks that a record holds the id under which it is stored.
func CheckID(held, id string) error {
	if held != id {
		return fmt.Errorf("it is the record of %q", held)
	}
	return nil
}

// Read reads a record as it is stored, or returns a *vnfm.NotFoundError.
func Read(ctx context.Context, s store.Store, kind store.Kind, id string) (*store.Record, error) {
	rec, err := s.Get(ctx, kind, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, NotFound(kind, id)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of %s %q: %w", nouns[kind], id, err)
	}
	return rec, nil
}

// Get is Read with the record decoded.
func Get[T any](ctx context.Context, s store.Store, kind store.Kind, id string) (*Entry[T], error) {
	rec, err := Read(ctx, s, kind, id)
	if err != nil {
		return nil, err
	}
	return Decode[T](*rec)
}

// List reads the records that a query selects.
func List[T any](ctx context.Context, s store.Store, q store.Query) ([]*Entry[T], error) {
	recs, err := s.List(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("listing the %s records: %w", nouns[q.Kind], err)
	}
	out := make([]*Entry[T], 0, len(recs))
	for _, rec := range recs {
		en, err := Decode[T](rec)
		if err != nil {
			return nil, err
		}
		out = append(out, en)
	}
	return out, nil
}

// Values returns what value makes of each record of a kind that it selects, in the order of
// creation. It is never nil.
func Values[T, V any](ctx context.Context, s store.Store, kind store.Kind, value func(record *T) (v V, selected bool)) ([]V, error) {
	all, err := List[T](ctx, s, store.Query{Kind: kind})
	if err != nil {
		return nil, err
	}
	out := make([]V, 0, len(all))
	for _, en := range all {
		if v, selected := value(&en.Value); selected {
			out = append(out, v)
		}
	}
	return out, nil
}

// Create stores a new record; one that exists is store.ErrExists.
func (en *Entry[T]) Create(ctx context.Context, s store.Store) error {
	return en.write(ctx, s.Create)
}

// Update replaces the record; one that was changed since it was read is store.ErrStale.
func (en *Entry[T]) Update(ctx context.Context, s store.Store) error {
	return en.write(ctx, s.Update)
}

func (en *Entry[T]) write(ctx context.Context, put func(context.Context, *store.Record) error) error {
	data, err := json.Marshal(en.Value)
	if err != nil {
		return fmt.Errorf("encoding the record of %s %q: %w", nouns[en.Rec.Kind], en.Rec.ID, err)
	}
	next := en.Rec
	next.Data = data
	if err := put(ctx, &next); err != nil {
		return fmt.Errorf("writing the record of %s %q: %w", nouns[en.Rec.Kind], en.Rec.ID, err)
	}
	en.Rec = next
	return nil
}
