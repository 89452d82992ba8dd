package lcm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// endTermination ends a TERMINATE operation that did its work. Of the instance nothing else stays: the record goes last, so that
// whatever is interrupted is done again.
func endTermination(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], op *operation) error {
	var all errgroup.Group
	kept := op.occ.Rec.ID
	all.Go(func() error { return op.enter(ctx, vnfm.StateCompleted, nil) })
	all.Go(func() error { return removePlans(ctx, s, en) })
	all.Go(func() error { return removeOperations(ctx, s, en, kept) })
	if err := all.Wait(); err != nil {
		return err
	}
	// A destroy that is repeated without the record does not look for what is left on the VIM.
	vnfm.AwaitTrailing(ctx)
	return removeInstance(ctx, s, en)
}

// removeRecords removes the record of an instance, and then its operations, without which it would look like one that was made.
func (e *Engine) removeRecords(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance]) error {
	store.ReadAhead(ctx, s, store.Wanted{Kind: store.KindOperation, Owner: en.Rec.ID})
	if err := removePlans(ctx, s, en); err != nil {
		return err
	}
	if err := removeInstance(ctx, s, en); err != nil {
		return err
	}
	return removeOperations(ctx, s, en)
}

func removePlans(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance]) error {
	if err := removeWordsNotes(ctx, s, en.Rec.ID, 0); err != nil {
		return fmt.Errorf("removing the plans of VNF instance %q: %w", en.Value.Name, err)
	}
	return nil
}

func removeInstance(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance]) error {
	if err := s.Delete(ctx, store.KindInstance, en.Rec.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("removing the record of VNF instance %q: %w", en.Value.Name, err)
	}
	return nil
}

// removeOperations removes the operations of an instance but the named ones.
func removeOperations(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], keep ...string) error {
	occs, err := s.List(ctx, store.Query{Kind: store.KindOperation, Owner: en.Rec.ID})
	if err != nil {
		return fmt.Errorf("listing the operations of VNF instance %q: %w", en.Value.Name, err)
	}
	occs = slices.DeleteFunc(occs, func(occ store.Record) bool { return slices.Contains(keep, occ.ID) })
	if err := removeEach(occs, func(occ store.Record) error { return removeOperation(ctx, s, occ) }); err != nil {
		return fmt.Errorf("removing the operations of VNF instance %q: %w", en.Value.Name, err)
	}
	return nil
}

// removedAtOnce bounds the records that are removed at a time.
const removedAtOnce = 8

// removeEach removes records, some at a time.
func removeEach(all []store.Record, remove func(store.Record) error) error {
	var removing errgroup.Group
	removing.SetLimit(removedAtOnce)
	for _, r := range all {
		removing.Go(func() error { return remove(r) })
	}
	return removing.Wait()
}
