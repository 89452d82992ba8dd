package lcm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Terraform plans once more when it applies, and rejects another answer. The record may be another one by then: a saved plan can be
// applied again after its apply was killed. So what a plan has said is noted in the store, and is said again to the same question. A plan
// that begins with a refresh asks another question, since status and generation of the state differ after each operation.

// wordsNoteAge is how long a note is kept: a saved plan may be applied on the next day.
const wordsNoteAge = 24 * time.Hour

// wordsNote is what was said of an instance to a question. Each question has a note of its own: several processes can plan the same
// instance, and an operation of one of them changes what the others would be told.
type wordsNote struct {
	// Question is a keyed digest of what was asked: it may hold secrets.
	Question string             `json:"question"`
	Said     vnfm.PlannedUpdate `json:"said"`
}

// wordsEntry is the note of a question that is being answered.
type wordsEntry struct{ *records.Entry[wordsNote] }

func (e *Engine) newWordsNote(ctx context.Context, en *records.Entry[vnfm.Instance], spec vnfm.InstanceSpec, changed map[string]string) (wordsEntry, error) {
	text, err := json.Marshal([]any{spec, spec.SecretParams, spec.Known.Status, spec.Known.Gone, spec.Known.Generation, changed})
	if err != nil {
		return wordsEntry{}, err
	}
	key, err := e.storeKey(ctx)
	if err != nil {
		return wordsEntry{}, err
	}
	question := digest.Keyed(key, text)
	return wordsEntry{&records.Entry[wordsNote]{
		Rec:   store.Record{Kind: store.KindPlan, ID: en.Rec.ID + " " + question, Owner: en.Rec.ID},
		Value: wordsNote{Question: question},
	}}, nil
}

// find returns what was said to the same question; nil for nothing.
func (n wordsEntry) find(ctx context.Context, s store.Store) *vnfm.PlannedUpdate {
	found, err := records.Get[wordsNote](ctx, s, store.KindPlan, n.Rec.ID)
	if err != nil || found.Value.Question != n.Value.Question {
		return nil
	}
	return &found.Value.Said
}

// save notes what is said, and returns what is to be said: another process may have answered the same question meanwhile. Old notes of the
// instance go. A role that only plans does without.
func (n wordsEntry) save(ctx context.Context, s store.Store, said *vnfm.PlannedUpdate) (*vnfm.PlannedUpdate, error) {
	n.Value.Said = *said
	instanceID := n.Rec.Owner
	tidied := make(chan struct{})
	go func() {
		defer close(tidied)
		// What is left is removed with the instance.
		_ = removeWordsNotes(ctx, s, instanceID, wordsNoteAge)
	}()
	err := n.Create(store.Foreseeing(ctx, leaseOf(instanceID)), s)
	<-tidied
	if errors.Is(err, store.ErrExists) {
		if other := n.find(ctx, s); other != nil {
			return other, nil
		}
		return said, nil
	}
	return said, store.Spared(err)
}

// removeWordsNotes removes the notes of an instance that are older than a time, 0 for all.
func removeWordsNotes(ctx context.Context, s store.Store, instanceID string, age time.Duration) error {
	notes, err := s.List(ctx, store.Query{Kind: store.KindPlan, Owner: instanceID})
	if err != nil {
		return err
	}
	notes = slices.DeleteFunc(notes, func(note store.Record) bool { return age > 0 && time.Since(note.CreatedAt) < age })
	return removeEach(notes, func(note store.Record) error {
		if err := s.Delete(ctx, store.KindPlan, note.ID); !errors.Is(err, store.ErrNotFound) {
			return err
		}
		return nil
	})
}
