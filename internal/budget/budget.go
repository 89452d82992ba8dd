// Package budget bounds what reading foreign input may cost. Everything that reads a file of a VNF package, a
// template or a chart draws from one Budget, which counts bytes, values and steps and not
// time: the same input is read, or refused, on every machine.
package budget

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
)

// Limits are what one reading may cost. A zero field stands for that of Default.
type Limits struct {
	// Bytes is the size of all texts that are parsed together.
	Bytes int64
	// Values is the number of values of all documents, after their aliases and merge keys are followed.
	Values int64
	// Depth is how deep values may be nested.
	Depth int
	// Steps is the number of everything else that is done for a value: functions that are evaluated, names that
	// are looked up, pairs that are compared.
	Steps int64
}

// Default returns the limits of one VNF package. The largest in use hold a few MiB of text with 200,000 values. A value takes
// up to 250 bytes of memory while it is read.
func Default() Limits {
	return Limits{Bytes: 64 << 20, Values: 1_000_000, Depth: 200, Steps: 20_000_000}
}

func (l Limits) withDefaults() Limits {
	d := Default()
	return Limits{Bytes: cmp.Or(l.Bytes, d.Bytes), Values: cmp.Or(l.Values, d.Values), Depth: cmp.Or(l.Depth, d.Depth), Steps: cmp.Or(l.Steps, d.Steps)}
}

// Budget is what is left of Limits. It is safe for concurrent use. Once it is spent, or its context has ended, every
// method returns that error.
type Budget struct {
	ctx    context.Context //nolint:containedctx // readers of files take no context: fs.FS has none
	limits Limits
	bytes  atomic.Int64
	values atomic.Int64
	steps  atomic.Int64
	spent  atomic.Pointer[error]
	// whole is the budget that this one takes from, and counts a part of; nil for one that stands for itself.
	whole *Budget
}

// Error says which limit was reached. It reads as the rest of a sentence about the input.
type Error struct {
	// Noun is what was counted, Max the limit.
	Noun string
	Max  int64
}

func (e *Error) Error() string { return fmt.Sprintf("more than %s %s", grouped(e.Max), e.Noun) }

// New returns a budget that ends with ctx.
func New(ctx context.Context, l Limits) *Budget {
	b := &Budget{ctx: ctx, limits: l.withDefaults()}
	b.fill()
	return b
}

// fill begins with all that the limits allow.
func (b *Budget) fill() {
	b.bytes.Store(b.limits.Bytes)
	b.values.Store(b.limits.Values)
	b.steps.Store(b.limits.Steps)
}

// left returns a budget of what is left of this one. It takes nothing from it.
func (b *Budget) left() *Budget {
	all := cmp.Or(b.whole, b)
	out := &Budget{ctx: b.ctx, limits: Limits{Bytes: all.bytes.Load(), Values: all.values.Load(), Depth: b.limits.Depth, Steps: all.steps.Load()}}
	out.fill()
	return out
}

// part returns a budget that takes from this one, and counts for itself what it takes.
func (b *Budget) part() *Budget {
	out := &Budget{ctx: b.ctx, limits: b.limits, whole: b}
	out.fill()
	return out
}

// Bytes takes the bytes of a text that is about to be parsed.
func (b *Budget) Bytes(n int64) error {
	if b.whole != nil {
		b.bytes.Add(-n)
		return b.whole.Bytes(n)
	}
	return b.take(&b.bytes, n, b.limits.Bytes, "bytes of text")
}

// Values takes values of documents.
func (b *Budget) Values(n int64) error {
	if b.whole != nil {
		b.values.Add(-n)
		return b.whole.Values(n)
	}
	return b.take(&b.values, n, b.limits.Values, "values, counted after aliases and merge keys are followed")
}

// Steps takes steps of work.
func (b *Budget) Steps(n int64) error {
	if b.whole != nil {
		return b.whole.Steps(n)
	}
	return b.take(&b.steps, n, b.limits.Steps, "steps of work")
}

// Depth refuses a value that is nested too deep. It takes nothing.
func (b *Budget) Depth(n int) error {
	if n > b.limits.Depth {
		return &Error{Noun: "levels of nested values", Max: int64(b.limits.Depth)}
	}
	return nil
}

// Taken returns how many bytes and values have been taken.
func (b *Budget) Taken() (bytes, values int64) {
	return b.limits.Bytes - b.bytes.Load(), b.limits.Values - b.values.Load()
}

// TakeKnown takes bytes and values of a text whose cost is known, or nothing when the budget is too small for them: reading the
// text then reports the place of the limit.
func (b *Budget) TakeKnown(bytes, values int64) bool {
	all := cmp.Or(b.whole, b)
	if all.Err() != nil || bytes > all.bytes.Load() || values > all.values.Load() {
		return false
	}
	return b.Bytes(bytes) == nil && b.Values(values) == nil
}

// Left returns how many bytes may still be parsed.
func (b *Budget) Left() int64 { return max(0, cmp.Or(b.whole, b).bytes.Load()) }

// Context is the context with which the budget ends.
func (b *Budget) Context() context.Context { return b.ctx }

// Err returns why nothing is left, or nil.
func (b *Budget) Err() error {
	if b.whole != nil {
		return b.whole.Err()
	}
	if err := b.spent.Load(); err != nil {
		return *err
	}
	if err := b.ctx.Err(); err != nil {
		return context.Cause(b.ctx)
	}
	return nil
}

// contextPeriod is after how many units the context is looked at.
const contextPeriod = 1 << 12

func (b *Budget) take(from *atomic.Int64, n, limit int64, noun string) error {
	if err := b.spent.Load(); err != nil {
		return *err
	}
	left := from.Add(-n)
	if left < 0 {
		var err error = &Error{Noun: noun, Max: limit}
		b.spent.CompareAndSwap(nil, &err)
		return *b.spent.Load()
	}
	if left/contextPeriod != (left+n)/contextPeriod && b.ctx.Err() != nil {
		return context.Cause(b.ctx)
	}
	return nil
}

// grouped writes a number with a comma for each thousand.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
