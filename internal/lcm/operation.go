package lcm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tracing"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// operation is a running LCM operation occurrence. It is also the Recorder
// through which the driver speaks to the records.
type operation struct {
	engine   *Engine
	store    store.Store
	instance *records.Entry[vnfm.Instance]
	// concealed are the secrets of the operation: none is in what it says of itself.
	concealed *vnfm.Concealed
	// missing is set by Missing.
	missing atomic.Bool
	// ends is set when the record of the instance goes with the operation.
	ends bool
	// unsaved says that the record lacks what is known of the items of its inventory.
	unsaved bool

	mu  sync.Mutex
	occ *records.Entry[vnfm.Operation]
	// written is when progress was stored last: it is reported often and stored rarely.
	written time.Time
	// later stores progress that came too soon after that: of an operation that waits, it may be the last for long. Nil for none.
	later *time.Timer
	// evidence is for a report, should the operation fail.
	evidence evidence
}

var _ vnfm.Recorder = (*operation)(nil)

// progressInterval is how often progress is written to the store.
const progressInterval = time.Second

// begin stores a new operation, before anything is done.
func (e *Engine) begin(ctx context.Context, s store.Store, instance *records.Entry[vnfm.Instance], t vnfm.OperationType, params map[string]any) (*operation, error) {
	op := e.newOperation(ctx, s, instance, t, params)
	return op, op.start(ctx)
}

// newOperation makes a new operation. It is PROCESSING at once: nothing is between STARTING and that but the write of start.
func (e *Engine) newOperation(ctx context.Context, s store.Store, instance *records.Entry[vnfm.Instance], t vnfm.OperationType, params map[string]any) *operation {
	now := time.Now().UTC()
	occ := &records.Entry[vnfm.Operation]{Rec: store.Record{Kind: store.KindOperation, ID: uuid.NewString(), Owner: instance.Value.ID}}
	occ.Value = vnfm.Operation{
		ID: occ.Rec.ID, InstanceID: instance.Value.ID, Instance: instance.Value.Name, Type: t, State: vnfm.StateProcessing, Attempts: 1, Run: process.Describe(process.Name()),
		Parameters: params, StartedAt: now, StateEnteredAt: now,
	}
	// What it does in the first moment is not worth a write.
	op := &operation{engine: e, store: s, instance: instance, concealed: vnfm.ConcealedIn(ctx), occ: occ, written: now}
	op.keepResults()
	return op
}

// start stores a new operation.
func (o *operation) start(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.occ.Create(ctx, o.store); err != nil {
		return err
	}
	o.report(ctx, "")
	return nil
}

// unfinished returns the last operation of an instance that has not ended, or nil.
func (e *Engine) unfinished(ctx context.Context, s store.Store, instance *records.Entry[vnfm.Instance]) (*operation, error) {
	ops, err := e.allUnfinished(ctx, s, instance)
	if err != nil || len(ops) == 0 {
		return nil, err
	}
	return ops[len(ops)-1], nil
}

func (e *Engine) allUnfinished(ctx context.Context, s store.Store, instance *records.Entry[vnfm.Instance]) ([]*operation, error) {
	occs, err := records.List[vnfm.Operation](ctx, s, store.Query{Kind: store.KindOperation, Owner: instance.Value.ID})
	if err != nil {
		return nil, err
	}
	var ops []*operation
	for _, occ := range occs {
		if !occ.Value.State.Final() {
			op := &operation{engine: e, store: s, instance: instance, concealed: vnfm.ConcealedIn(ctx), occ: occ}
			op.keepResults()
			ops = append(ops, op)
		}
	}
	return ops, nil
}

// interrupted is unfinished for a caller that holds the lease of the instance: no process runs the
// operation, which is FAILED_TEMP then. One before it was not given up yet.
func (e *Engine) interrupted(ctx context.Context, s store.Store, instance *records.Entry[vnfm.Instance]) (*operation, error) {
	ops, err := e.allUnfinished(ctx, s, instance)
	for i, op := range ops {
		if err := op.markInterrupted(ctx); err != nil {
			return nil, err
		}
		if i == len(ops)-1 {
			return op, nil
		}
		if err := op.giveUp(ctx); err != nil {
			return nil, err
		}
	}
	return nil, err
}

// enter moves the operation along one arrow of the state machine and stores it.
func (o *operation) enter(ctx context.Context, next vnfm.OperationState, cause error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	occ := &o.occ.Value
	if !occ.State.CanBecome(next) {
		return fmt.Errorf("operation %s %s cannot go from %s to %s", occ.Type, occ.ID, occ.State, next)
	}
	o.dropLater()
	before := *occ
	occ.State = next
	occ.StateEnteredAt = time.Now().UTC()
	occ.Error = ""
	if cause != nil {
		occ.Error = o.concealed.Hide(cause.Error())
	}
	if next == vnfm.StateProcessing {
		occ.Attempts++
		// What a former attempt said is no progress of this one.
		occ.Run, occ.Progress = process.Describe(process.Name()), ""
	}
	if next.Final() {
		occ.Progress, occ.Notes = "", nil
	}
	if err := o.occ.Update(ctx, o.store); err != nil {
		*occ = before
		return err
	}
	o.report(ctx, "")
	return nil
}

// report tells those who follow the operation. o.mu is held.
func (o *operation) report(ctx context.Context, line string) {
	o.evidence.note(cmp.Or(line, string(o.occ.Value.State)))
	p := vnfm.Progress{Instance: o.instance.Value.Name, Operation: o.occ.Value, Line: line}
	if o.engine.cfg.Progress != nil {
		o.engine.cfg.Progress(ctx, p)
	}
	vnfm.Follow(ctx, p)
}

// fail enters FAILED_TEMP, where the operation may be already. An operation that has
// failed because its lease was lost is not written, and the cause returned: the record
// may be in the hands of another process.
func (o *operation) fail(ctx context.Context, cause error) error {
	if leaseLost(cause) {
		return cause
	}
	if o.state() == vnfm.StateFailedTemp {
		return nil
	}
	return o.enter(ctx, vnfm.StateFailedTemp, cause)
}

// rollBack takes the two arrows from PROCESSING to ROLLING_BACK.
func (o *operation) rollBack(ctx context.Context, cause error) error {
	if err := o.fail(ctx, cause); err != nil {
		return err
	}
	return o.enter(ctx, vnfm.StateRollingBack, cause)
}

// markInterrupted brings an operation that was interrupted at any point to FAILED_TEMP,
// from where it can be retried, rolled back or given up.
func (o *operation) markInterrupted(ctx context.Context) error {
	interrupted := fmt.Errorf("the process that ran it has ended")
	if o.state() == vnfm.StateStarting {
		if err := o.enter(ctx, vnfm.StateProcessing, nil); err != nil {
			return err
		}
	}
	if s := o.state(); s == vnfm.StateProcessing || s == vnfm.StateRollingBack {
		return o.enter(ctx, vnfm.StateFailedTemp, interrupted)
	}
	return nil
}

// errReplaced ends an operation that no request needs any more.
var errReplaced = errors.New("the request that it served was replaced by a later one")

// giveUp ends an operation that has failed and that no request needs any more. What it failed with stays in its record.
func (o *operation) giveUp(ctx context.Context) error {
	cause := errReplaced
	if failed := o.snapshot().Error; failed != "" {
		cause = fmt.Errorf("%s; %w", failed, errReplaced)
	}
	return o.enter(ctx, vnfm.StateFailed, cause)
}

func (o *operation) state() vnfm.OperationState {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.occ.Value.State
}

func (o *operation) kind() vnfm.OperationType {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.occ.Value.Type
}

// madeAnything reports whether a request that makes something may have been sent:
// the inventory is saved before the first of them.
func (o *operation) madeAnything() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.instance.Value.Inventory) > 0
}

// knowsObjects reports whether an object of the inventory is known to exist.
func (o *operation) knowsObjects() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.instance.Value.Inventory, func(i vnfm.InventoryItem) bool { return i.UID != "" })
}

func (o *operation) snapshot() vnfm.Operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.occ.Value
}

// SaveInventory implements vnfm.Recorder. That objects exist which the record names, or exist no more, is written with the end of the operation:
// they are found by their names.
func (o *operation) SaveInventory(ctx context.Context, items []vnfm.InventoryItem) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.instance.Value.Inventory
	o.instance.Value.Inventory = items
	if o.ends && len(items) == 0 {
		// The record is removed next. A process that resumes the operation looks for these objects and finds none.
		return nil
	}
	if o.unsaved = !o.ends && namesAll(before, items); o.unsaved {
		return nil
	}
	return saveInstance(ctx, o.store, o.instance)
}

// namesAll reports whether an inventory has all items of another one, or names them as objects.
func namesAll(inventory, items []vnfm.InventoryItem) bool {
	name := func(i vnfm.InventoryItem) vnfm.InventoryItem {
		if i.Type == vnfm.InventoryObject {
			i.UID = ""
		}
		return i
	}
	named := make(map[vnfm.InventoryItem]bool, len(inventory))
	for _, i := range inventory {
		named[name(i)] = true
	}
	return !slices.ContainsFunc(items, func(i vnfm.InventoryItem) bool { return !named[name(i)] })
}

// saveKnown writes what SaveInventory has left for the end of the operation.
func (o *operation) saveKnown(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.unsaved {
		return nil
	}
	o.unsaved = false
	return saveInstance(ctx, o.store, o.instance)
}

// saveInstance writes the record of an instance whose lease the caller holds. A
// refresh of another process may have acknowledged the record meanwhile, and noted the shares of its VIMs, which
// takes no lease: these marks are kept and the write done again. A record that was
// changed otherwise is store.ErrStale.
func saveInstance(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance]) error {
	en.Value.UpdatedAt = time.Now().UTC()
	err := en.Update(ctx, s)
	if !errors.Is(err, store.ErrStale) {
		return err
	}
	fresh, getErr := records.Get[vnfm.Instance](ctx, s, store.KindInstance, en.Rec.ID)
	if getErr != nil {
		return getErr
	}
	known, decodeErr := records.Decode[vnfm.Instance](en.Rec)
	if decodeErr != nil {
		return decodeErr
	}
	known.Value.Acknowledged, known.Value.VIMShares = fresh.Value.Acknowledged, fresh.Value.VIMShares
	if !reflect.DeepEqual(known.Value, fresh.Value) {
		return err
	}
	en.Rec.Revision = fresh.Rec.Revision
	en.Value.Acknowledged, en.Value.VIMShares = fresh.Value.Acknowledged, fresh.Value.VIMShares
	return en.Update(ctx, s)
}

// Progress implements vnfm.Recorder.
func (o *operation) Progress(ctx context.Context, line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line = o.concealed.Hide(line)
	o.occ.Value.Progress = line
	o.report(ctx, line)
	tracing.Event(ctx, line)
	wait := progressInterval - time.Since(o.written)
	switch {
	case wait <= 0:
		o.dropLater()
		o.written = time.Now()
		if !vnfm.InBackground(ctx, func(<-chan struct{}) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.storeProgress(ctx)
		}) {
			o.storeProgress(ctx)
		}
	case o.later == nil:
		ctx = context.WithoutCancel(ctx) // a step of the operation may have ended by then
		o.later = time.AfterFunc(wait, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.later != nil {
				o.dropLater()
				o.written = time.Now()
				o.storeProgress(ctx)
			}
		})
	}
}

// storeProgress stores the last line of an operation that runs. It is for onlookers: the operation goes on without it. o.mu is held.
func (o *operation) storeProgress(ctx context.Context) {
	if o.occ.Value.State == vnfm.StateProcessing || o.occ.Value.State == vnfm.StateRollingBack {
		_ = o.occ.Update(ctx, o.store)
	}
}

// dropLater has nothing stored later. o.mu is held.
func (o *operation) dropLater() {
	if o.later != nil {
		o.later.Stop()
		o.later = nil
	}
}

// SetNote implements vnfm.Recorder.
func (o *operation) SetNote(ctx context.Context, key, note string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	notes := maps.Clone(o.occ.Value.Notes)
	if notes == nil {
		notes = map[string]string{}
	}
	notes[key] = note
	o.occ.Value.Notes = notes
	return o.occ.Update(ctx, o.store)
}

// Note implements vnfm.Recorder.
func (o *operation) Note(key string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.occ.Value.Notes[key]
}

// Operations implements vnfm.Manager.
func (e *Engine) Operations(ctx context.Context, instanceID string) ([]vnfm.Operation, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	occs, err := records.List[vnfm.Operation](ctx, s, store.Query{Kind: store.KindOperation, Owner: instanceID})
	if err != nil {
		return nil, err
	}
	out := make([]vnfm.Operation, 0, len(occs))
	for _, occ := range occs {
		out = append(out, occ.Value)
	}
	return out, nil
}

// Missing implements vnfm.Recorder.
func (o *operation) Missing() { o.missing.Store(true) }
