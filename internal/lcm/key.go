package lcm

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Digests of objects that hold secrets are keyed, so that secrets cannot be guessed from them.
// A changed digest replaces pods and sends credentials again. So each instance has a key of its
// own, which outlives the key of the store, the store and the machine: the record has it, and
// the VIM keeps it beside the objects. Without both a plan knows no digests, and the apply makes
// another key. State and plans have the digests and never the key.

// keySize is the size of a key in bytes.
const keySize = 32

// newKey returns the key of a new instance.
func newKey() []byte {
	key := make([]byte, keySize)
	// It never fails: a system without randomness ends the program.
	_, _ = rand.Read(key)
	return key
}

// storeKey keys what only this store compares. A refresh over a store that may only be read, and that
// has no key yet, has one of its own: there is no digest that was made with that of the store.
func (e *Engine) storeKey(ctx context.Context) ([]byte, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	key, err := s.DigestKey(ctx)
	if errors.Is(err, store.ErrReadOnly) && vnfm.IsRefresh(ctx) {
		return e.ownKey, nil
	}
	return key, err
}

// keyOnVIM returns the key of an instance whose record the store has lost: the one that the
// VIM keeps. Where it keeps none, no digest depends on the key; that of the store is the same
// in plan and apply.
func (e *Engine) keyOnVIM(ctx context.Context, i *vnfm.Instance, spec vnfm.InstanceSpec, r *resolution) ([]byte, error) {
	t, d, err := e.bind(ctx, i, r, spec)
	if err != nil {
		return nil, err
	}
	key, err := d.DigestKey(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("looking for the key of the digests of %s %q on its VIM: %w", i.Noun(), i.Name, err)
	}
	if len(key) == 0 {
		return e.storeKey(ctx)
	}
	return key, nil
}

// recoverKey is keyOnVIM, and another key where that of the VIM is lost.
func (e *Engine) recoverKey(ctx context.Context, i *vnfm.Instance, spec vnfm.InstanceSpec, r *resolution) ([]byte, error) {
	key, err := e.keyOnVIM(ctx, i, spec, r)
	if errors.Is(err, vnfm.ErrKeyLost) {
		return newKey(), nil
	}
	return key, err
}

// keyLimit bounds how long a plan waits for a VIM that is to tell the key.
const keyLimit = 10 * time.Second

// previewKey returns the key with which a plan computes digests. It is nil, and the digests
// are unknown, for a new instance, whose key the apply makes, and when the record is lost
// and the VIM does not answer or has lost the key.
func (e *Engine) previewKey(ctx context.Context, present presentInstance, spec vnfm.InstanceSpec, r *resolution) ([]byte, error) {
	if present.id == "" {
		return nil, nil
	}
	if en := present.record; en != nil {
		return en.Value.DigestKey, nil
	}
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, keyLimit)
	defer cancel()
	if spec.VIMID == "" {
		return nil, nil
	}
	vim, err := vims.Get(ctx, s, spec.VIMID)
	if err != nil {
		return nil, nil //nolint:nilerr // a VIM that is not known tells no key
	}
	spec.Namespace = e.namespaceOf(spec, vim)
	key, err := e.keyOnVIM(ctx, describedInstance(present.id, spec, r), spec, r)
	if err != nil {
		return nil, nil //nolint:nilerr // nor does one that cannot be reached
	}
	return key, nil
}
