package lcm

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Terraform plans once more when it applies, and rejects another answer. The record may be another one by then: a saved plan can be
// applied again after its apply was killed. So what a plan has said is noted in the store, and is said again to the same question. A plan
// that begins with a refresh asks another question, since status and generation of the state differ after each operation.

// wordsNote is what was last said of an instance. Its id is that of the instance.
type wordsNote struct {
	// Question is a keyed digest of what was asked: it may hold secrets.
	Question string             `json:"question"`
	Said     vnfm.PlannedUpdate `json:"said"`
}

// wordsEntry is the note of a question that is being answered.
type wordsEntry struct{ *records.Entry[wordsNote] }

func (e *Engine) newWordsNote(ctx context.Context, en *records.Entry[vnfm.Instance], spec vnfm.InstanceSpec, changed map[string]string) (wordsEntry, error) {
	text, err := json.Marshal([]any{spec, spec.SecretParams, spec.Known.Status, spec.Known.Generation, changed})
	if err != nil {
		return wordsEntry{}, err
	}
	key, err := e.storeKey(ctx)
	if err != nil {
		return wordsEntry{}, err
	}
	return wordsEntry{&records.Entry[wordsNote]{
		Rec:   store.Record{Kind: store.KindPlan, ID: en.Rec.ID, Owner: en.Value.VIMID},
		Value: wordsNote{Question: digest.Keyed(key, text)},
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

// save notes what is said. A role that only plans does without.
func (n wordsEntry) save(ctx context.Context, s store.Store, said *vnfm.PlannedUpdate) error {
	n.Value.Said = *said
	err := n.Create(ctx, s)
	if errors.Is(err, store.ErrExists) {
		if err = s.Delete(ctx, store.KindPlan, n.Rec.ID); err == nil || errors.Is(err, store.ErrNotFound) {
			err = n.Create(ctx, s)
		}
	}
	if errors.Is(err, store.ErrExists) {
		// Another process plans the same instance.
		return nil
	}
	return store.Spared(err)
}
