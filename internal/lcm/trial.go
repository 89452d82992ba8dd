package lcm

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Terraform plans a resource in one process of the provider and plans it once more in
// the one that applies, with nothing that tells the second from the first. So a dry
// run that refused nothing leaves a note in the store, and who finds the note of
// another process with the same parent need not ask the VIM again.

// trialLimit is how long a note is good for: as long as somebody may look at a plan
// before confirming it.
const trialLimit = time.Hour

// trial is the note that an instance was tried. Its id is the instance's natural key.
type trial struct {
	// Parent is the process that started the one which asked, Engine who asked.
	Parent int    `json:"parent"`
	Engine string `json:"engine"`
	// Question is a keyed sum of what was asked: it may hold secrets.
	Question string `json:"question"`
}

// newTrial composes the note of a question.
func (e *Engine) newTrial(ctx context.Context, id string, spec vnfm.InstanceSpec, keys []string) (*entry[trial], error) {
	text, err := json.Marshal([]any{id, spec, keys})
	if err != nil {
		return nil, err
	}
	key, err := e.storeKey(ctx)
	if err != nil {
		return nil, err
	}
	return &entry[trial]{
		rec:   store.Record{Kind: store.KindTrial, ID: keyOf(spec), Owner: spec.VIMID},
		value: trial{Parent: os.Getppid(), Engine: e.id, Question: digest.Keyed(key, text)},
	}, nil
}

// tried reports whether another process of the same run of Terraform has asked the
// same and left a note, which is good once.
func (e *Engine) tried(ctx context.Context, s store.Store, asked *entry[trial]) bool {
	found, err := get[trial](ctx, s, store.KindTrial, asked.rec.ID)
	if err != nil {
		return false
	}
	// Nobody else needs it: a plan that comes later asks anew.
	_ = s.Delete(ctx, store.KindTrial, asked.rec.ID)
	note := found.value
	return note.Engine != e.id && note.Parent == asked.value.Parent && note.Question == asked.value.Question &&
		time.Since(found.rec.UpdatedAt) < trialLimit
}

// noteTrial leaves a note. Without it the apply asks again, which does no harm.
func noteTrial(ctx context.Context, s store.Store, asked *entry[trial]) {
	if errors.Is(asked.create(ctx, s), store.ErrExists) {
		_ = s.Delete(ctx, store.KindTrial, asked.rec.ID)
		_ = asked.create(ctx, s)
	}
}

// forgetTrials removes the notes of instances on a VIM.
func forgetTrials(ctx context.Context, s store.Store, vimID string) error {
	notes, err := s.List(ctx, store.Query{Kind: store.KindTrial, Owner: vimID})
	if err != nil {
		return err
	}
	for i := range notes {
		if err := s.Delete(ctx, store.KindTrial, notes[i].ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}
