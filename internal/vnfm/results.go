package vnfm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// MaxResults bounds Results in bytes, those of all parts together: a Secret has at most 1 MiB, the arguments of the instance among them.
const MaxResults = 400 << 10

// Results are what the random functions of an instance's chart have given, in the form of the
// infra driver. They are secrets. They are safe for concurrent use: the parts of an instance
// on several VIMs have them in common.
type Results struct {
	mu   sync.Mutex
	data []byte
	// before is data as it was in the beginning.
	before []byte
	save   func(ctx context.Context, data []byte) error
	// planned are the sizes that the parts will have as far as they were planned, in bytes; the whole has an empty name.
	planned map[string]int
	// parent is set for a part, with the name that it has there.
	parent *Results
	part   string
}

// NewResults returns the results that were kept; nil for none.
func NewResults(data []byte) *Results { return &Results{data: data, before: data} }

// Data are the results as they are kept; nil for none.
func (r *Results) Data() []byte {
	if r == nil {
		return nil
	}
	if r.parent != nil {
		return partsIn(r.parent.Data())[r.part]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data
}

// Before are the results as they were before the update that holds them changed any; nil for none.
func (r *Results) Before() []byte {
	switch {
	case r == nil:
		return nil
	case r.parent != nil:
		return partsIn(r.parent.Before())[r.part]
	}
	return r.before
}

// Part are the results of a part of the instance that has a chart of its own; these are kept with
// the others. Of results that have parts nothing else is used.
func (r *Results) Part(name string) *Results {
	if r == nil {
		return nil
	}
	return &Results{parent: r, part: name}
}

// partsIn are the parts in the data of their parent.
func partsIn(data []byte) map[string][]byte {
	out := map[string][]byte{}
	if len(data) > 0 {
		// What cannot be read is made again.
		_ = json.Unmarshal(data, &out)
	}
	return out
}

// WithPart are the data of results with one more part, unless they have it.
func WithPart(data []byte, name string, part []byte) []byte {
	parts := partsIn(data)
	if len(part) == 0 || len(parts[name]) > 0 {
		return data
	}
	parts[name] = part
	return joinParts(parts)
}

// joinParts is the data of a parent with these parts.
func joinParts(parts map[string][]byte) []byte {
	// Texts and bytes can be encoded.
	out, _ := json.Marshal(parts)
	return out
}

// SavedBy has changes of the results saved before anything is made of them.
func (r *Results) SavedBy(save func(ctx context.Context, data []byte) error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.save = save
}

// Update replaces the results by what change makes of them, and saves them; nil changes
// nothing. No other update runs meanwhile.
func (r *Results) Update(ctx context.Context, change func(data []byte) []byte) error {
	if r.parent != nil {
		return r.parent.Update(ctx, func(data []byte) []byte {
			parts := partsIn(data)
			next := change(parts[r.part])
			if next == nil {
				return nil
			}
			parts[r.part] = next
			return joinParts(parts)
		})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := change(r.data)
	if next == nil || bytes.Equal(next, r.data) {
		return nil
	}
	if len(next) > max(MaxResults, len(r.data)) {
		return tooLarge(len(next), sizesOf(next))
	}
	if r.save != nil {
		if err := r.save(ctx, next); err != nil {
			return err
		}
	}
	r.data = next
	return nil
}

// Plan notes how many bytes the results will have, as far as a plan can tell. It is an error when they are too many, together with the
// other parts. Of a part that was not planned those count that there are.
func (r *Results) Plan(size int) error {
	switch {
	case r == nil:
		return nil
	case r.parent != nil:
		return r.parent.plan(r.part, base64.StdEncoding.EncodedLen(size))
	default:
		return r.plan("", size)
	}
}

func (r *Results) plan(part string, size int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.planned == nil {
		r.planned = sizesOf(r.data)
	}
	r.planned[part] = size
	total := 0
	for _, n := range r.planned {
		total += n
	}
	if total > max(MaxResults, len(r.data)) {
		return tooLarge(total, r.planned)
	}
	return nil
}

// sizesOf are the sizes of the parts in the data of their parent, as they are encoded there; empty for data without parts.
func sizesOf(data []byte) map[string]int {
	out := map[string]int{}
	for name, part := range partsIn(data) {
		out[name] = base64.StdEncoding.EncodedLen(len(part))
	}
	return out
}

// tooLarge is the error of results that are too large together. It names the largest parts.
func tooLarge(total int, sizes map[string]int) error {
	const named = 3
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	var largest []string
	for _, name := range names[:min(named, len(names))] {
		if strings.TrimSpace(name) != "" {
			largest = append(largest, fmt.Sprintf("%s (%d KiB)", name, sizes[name]>>10))
		}
	}
	text := fmt.Sprintf("the results of random functions would take %d KiB, and an instance keeps %d KiB at most; set the passwords and certificates of its charts by values",
		(total+1<<10-1)>>10, MaxResults>>10)
	if len(largest) > 0 {
		text += "; the largest are those of " + strings.Join(largest, ", ")
	}
	return errors.New(text)
}

// RegenerateSpec asks for results of functions to be made again, once for each trigger.
type RegenerateSpec struct {
	Trigger string
	// Functions are names of functions of templates, Templates the files of the chart that call
	// them, or ends of their paths. An empty list means all.
	Functions []string
	Templates []string
}

// Selects reports whether the result of a function in a file is to be made again. A nil
// specification selects none.
func (s *RegenerateSpec) Selects(file, function string) bool {
	if s == nil || (len(s.Functions) > 0 && !slices.Contains(s.Functions, function)) {
		return false
	}
	return len(s.Templates) == 0 || slices.ContainsFunc(s.Templates, func(t string) bool {
		return strings.HasSuffix("/"+file, "/"+strings.TrimPrefix(t, "/"))
	})
}

// ResultKeeper is an InfraDriver that keeps Results on the VIM beside the objects of an
// instance.
type ResultKeeper interface {
	// KeptResults reads them, to restore a lost record; nil when none are there.
	KeptResults(ctx context.Context, t *Target) ([]byte, error)
}
