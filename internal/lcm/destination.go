package lcm

import (
	"context"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// instanceDestination is where the parameters of management drivers go: the servers of an
// instance that are on its VIM and have these keys.
func instanceDestination(i *vnfm.Instance) (seal.Destination, error) {
	return seal.DestinationOf(map[string]any{"vim_id": i.VIMID, "host_keys": i.HostKeys})
}

// sealInstance seals secrets of an instance for its destination.
func (e *Engine) sealInstance(ctx context.Context, en *records.Entry[vnfm.Instance], plain map[string]string) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	to, err := instanceDestination(&en.Value)
	if err != nil {
		return err
	}
	if err := sealTexts(ctx, plain); err != nil {
		return err
	}
	en.Rec.Sealed, err = s.SealFor(ctx, en.Rec.ID, to, plain)
	return err
}

// openInstance opens what sealInstance sealed.
func (e *Engine) openInstance(ctx context.Context, en *records.Entry[vnfm.Instance]) (map[string]string, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	to, err := instanceDestination(&en.Value)
	if err != nil {
		return nil, err
	}
	plain, err := s.OpenFor(ctx, en.Rec.ID, to, en.Rec.Sealed)
	concealSealed(ctx, plain)
	return plain, err
}

// checkInstance returns an error, once, for a record whose host keys were edited, and removes
// the keys. This gives an editor of the store no more power than deleting them.
func (e *Engine) checkInstance(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance]) error {
	if len(en.Rec.Sealed) == 0 {
		return nil
	}
	_, err := e.openInstance(ctx, en)
	if _, ok := errors.AsType[*seal.EditedError](err); !ok {
		// The request has the secrets that cannot be opened.
		return nil
	}
	refused := records.EditedError(err, vnfm.EditedHostKeys, fmt.Sprintf("opening the additional parameters of VNF instance %q", en.Value.Name))
	en.Value.HostKeys, en.Rec.Sealed = nil, nil
	return errors.Join(refused, saveInstance(ctx, s, en))
}
