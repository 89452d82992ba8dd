package lcm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// nouns name the kinds of records in errors.
var nouns = map[store.Kind]string{
	store.KindVIM:       "VIM",
	store.KindPackage:   "VNF package",
	store.KindInstance:  "VNF instance",
	store.KindOperation: "LCM operation",
	store.KindTrial:     "dry run",
	store.KindChart:     "Helm chart",
	store.KindRegistry:  "private registry",
	store.KindKey:       "key",
}

// entry is a decoded record together with what the store needs to replace it.
type entry[T any] struct {
	value T
	// rec.Data is what was read or written last.
	rec store.Record
}

func decode[T any](rec store.Record) (*entry[T], error) {
	out := &entry[T]{rec: rec}
	err := json.Unmarshal(rec.Data, &out.value)
	if err == nil {
		err = whole(&out.value, rec.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("the record of %s %q is damaged in the store: %w; restore a backup of the store, or move the store away and apply: that writes all records again", nouns[rec.Kind], rec.ID, err)
	}
	return out, nil
}

// whole checks that a record has what everybody takes for granted.
func whole(value any, id string) error {
	var named string
	switch v := value.(type) {
	case *vimRecord:
		named = v.ID
	case *packageRecord:
		named = v.ID
		if v.Descriptor == nil {
			return errors.New("it has no descriptor")
		}
	case *chartRecord:
		named = v.Digest
	case *vnfm.Instance:
		named = v.ID
	case *vnfm.Operation:
		named = v.ID
	case *vnfm.Registry:
		named = v.ID
	default:
		return nil
	}
	if named != id {
		return fmt.Errorf("it is the record of %q", named)
	}
	return nil
}

func get[T any](ctx context.Context, s store.Store, kind store.Kind, id string) (*entry[T], error) {
	rec, err := s.Get(ctx, kind, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, &vnfm.NotFoundError{Kind: nouns[kind], ID: id}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of %s %q: %w", nouns[kind], id, err)
	}
	return decode[T](*rec)
}

func list[T any](ctx context.Context, s store.Store, q store.Query) ([]*entry[T], error) {
	recs, err := s.List(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("listing the %s records: %w", nouns[q.Kind], err)
	}
	out := make([]*entry[T], 0, len(recs))
	for _, rec := range recs {
		en, err := decode[T](rec)
		if err != nil {
			return nil, err
		}
		out = append(out, en)
	}
	return out, nil
}

func (en *entry[T]) create(ctx context.Context, s store.Store) error {
	return en.write(ctx, s.Create)
}

func (en *entry[T]) update(ctx context.Context, s store.Store) error {
	return en.write(ctx, s.Update)
}

func (en *entry[T]) write(ctx context.Context, put func(context.Context, *store.Record) error) error {
	data, err := json.Marshal(en.value)
	if err != nil {
		return fmt.Errorf("encoding the record of %s %q: %w", nouns[en.rec.Kind], en.rec.ID, err)
	}
	next := en.rec
	next.Data = data
	if err := put(ctx, &next); err != nil {
		return fmt.Errorf("writing the record of %s %q: %w", nouns[en.rec.Kind], en.rec.ID, err)
	}
	en.rec = next
	return nil
}
