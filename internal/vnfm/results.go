package vnfm

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Results are what the random functions of an instance's chart have given, in the form of the
// infra driver. They are secrets. They are safe for concurrent use: the parts of an instance
// on several VIMs have them in common.
type Results struct {
	mu   sync.Mutex
	data []byte
	save func(ctx context.Context, data []byte) error
	// parent is set for a part, with the name that it has there.
	parent *Results
	part   string
}

// NewResults returns the results that were kept; nil for none.
func NewResults(data []byte) *Results { return &Results{data: data} }

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
	if r.save != nil {
		if err := r.save(ctx, next); err != nil {
			return err
		}
	}
	r.data = next
	return nil
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
