package lcm

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A resource is planned by one process and once more by the one that applies. So a dry run
// that refused nothing leaves a note in the store, and a process that finds the note of
// another one of the same run need not ask the VIM again.

// dryRunNoteAge is how long a note is valid: the time that a user may take to confirm a plan.
const dryRunNoteAge = time.Hour

// dryRunNote records the dry run of an instance. Its id is the instance's natural key.
type dryRunNote struct {
	// Run and Engine identify the process that ran it.
	Run    string `json:"run"`
	Engine string `json:"engine"`
	// Question is a keyed sum of what was asked: it may hold secrets.
	Question string `json:"question"`
}

// newDryRunNote composes the note of a question.
func (e *Engine) newDryRunNote(ctx context.Context, id string, spec vnfm.InstanceSpec, keys []string) (*records.Entry[dryRunNote], error) {
	text, err := json.Marshal([]any{id, spec, keys})
	if err != nil {
		return nil, err
	}
	key, err := e.storeKey(ctx)
	if err != nil {
		return nil, err
	}
	return &records.Entry[dryRunNote]{
		Rec:   store.Record{Kind: store.KindDryRun, ID: keyOf(spec), Owner: spec.VIMID},
		Value: dryRunNote{Run: e.cfg.RunID, Engine: e.id, Question: digest.Keyed(key, text)},
	}, nil
}

// takeDryRunNote reports whether another process of the same run has left a note of the same
// question, and removes the note.
func (e *Engine) takeDryRunNote(ctx context.Context, s store.Store, asked *records.Entry[dryRunNote]) bool {
	found, err := records.Get[dryRunNote](ctx, s, store.KindDryRun, asked.Rec.ID)
	if err != nil {
		return false
	}
	// A later plan must ask again.
	_ = s.Delete(ctx, store.KindDryRun, asked.Rec.ID)
	note := found.Value
	return note.Engine != e.id && note.Run == asked.Value.Run && note.Question == asked.Value.Question &&
		time.Since(found.Rec.UpdatedAt) < dryRunNoteAge
}

// saveDryRunNote leaves a note. Without it the apply asks again, which does no harm.
func saveDryRunNote(ctx context.Context, s store.Store, asked *records.Entry[dryRunNote]) {
	// What is left goes with the VIM.
	ctx = store.Foreseeing(ctx, records.ReferencesLease)
	if errors.Is(asked.Create(ctx, s), store.ErrExists) {
		_ = s.Delete(ctx, store.KindDryRun, asked.Rec.ID)
		_ = asked.Create(ctx, s)
	}
}

// removeDryRunNotes removes the notes of instances on a VIM.
func removeDryRunNotes(ctx context.Context, s store.Store, vimID string) error {
	notes, err := s.List(ctx, store.Query{Kind: store.KindDryRun, Owner: vimID})
	if err != nil {
		return err
	}
	return removeEach(notes, func(note store.Record) error {
		if err := s.Delete(ctx, store.KindDryRun, note.ID); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	})
}
