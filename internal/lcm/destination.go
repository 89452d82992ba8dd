package lcm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// vimDestination is where the credentials of a VIM go: everything that its record says of
// the connection.
func vimDestination(data []byte) (seal.Destination, error) {
	var v vnfm.VIM
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("reading where the credentials of the VIM go: %w", err)
	}
	return seal.DestinationOf(map[string]any{"type": v.Type, "kubernetes": v.Kubernetes, "openstack": v.OpenStack})
}

// registryDestination is where the secrets of a private registry go: what was asked for,
// and the keys of the hosts that were met.
func registryDestination(r *vnfm.Registry) (seal.Destination, error) {
	return seal.DestinationOf(map[string]any{"spec": r.Spec, "host_keys": r.HostKeys})
}

// instanceDestination is where the parameters of management drivers go: the servers of an
// instance that are on its VIM and have these keys.
func instanceDestination(i *vnfm.Instance) (seal.Destination, error) {
	return seal.DestinationOf(map[string]any{"vim_id": i.VIMID, "host_keys": i.HostKeys})
}

// edited is the error of a record whose secrets were sealed for another destination; any
// other error stays as it is.
func edited(err error, doing, remedy string) error {
	if e, ok := errors.AsType[*seal.EditedError](err); ok {
		return &vnfm.EditedError{Doing: doing, Fields: e.Fields, Remedy: remedy}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// hostKeysForgotten is what to do when a record with keys of hosts was edited.
const hostKeysForgotten = "the keys of its hosts are forgotten; find out who writes the store, " +
	"give the keys as host_keys or make sure that nobody is in between, and apply again"

// sealInstance seals secrets of an instance for its destination.
func (e *Engine) sealInstance(ctx context.Context, en *entry[vnfm.Instance], plain map[string]string) error {
	s, err := e.store(ctx)
	if err != nil {
		return err
	}
	to, err := instanceDestination(&en.value)
	if err != nil {
		return err
	}
	if err := sealTexts(ctx, plain); err != nil {
		return err
	}
	en.rec.Sealed, err = s.SealFor(ctx, en.rec.ID, to, plain)
	return err
}

// openInstance opens what sealInstance sealed.
func (e *Engine) openInstance(ctx context.Context, en *entry[vnfm.Instance]) (map[string]string, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	to, err := instanceDestination(&en.value)
	if err != nil {
		return nil, err
	}
	plain, err := s.OpenFor(ctx, en.rec.ID, to, en.rec.Sealed)
	concealSealed(ctx, plain)
	return plain, err
}

// checkInstance refuses to work with the keys of hosts in a record that was edited, once:
// it forgets them, as whoever edits a record could do.
func (e *Engine) checkInstance(ctx context.Context, s store.Store, en *entry[vnfm.Instance]) error {
	if len(en.rec.Sealed) == 0 {
		return nil
	}
	_, err := e.openInstance(ctx, en)
	if _, ok := errors.AsType[*seal.EditedError](err); !ok {
		// Secrets that cannot be opened are given anew by the request.
		return nil
	}
	refused := edited(err, fmt.Sprintf("opening the additional parameters of VNF instance %q", en.value.Name), hostKeysForgotten)
	en.value.HostKeys, en.rec.Sealed = nil, nil
	return errors.Join(refused, saveInstance(ctx, s, en))
}

// checkRegistry does the same with the record of a private registry.
func (e *Engine) checkRegistry(ctx context.Context, s *seal.Store, en *entry[vnfm.Registry]) error {
	if len(en.rec.Sealed) == 0 {
		return nil
	}
	to, err := registryDestination(&en.value)
	if err != nil {
		return err
	}
	_, err = s.OpenFor(ctx, en.rec.ID, to, en.rec.Sealed)
	if _, ok := errors.AsType[*seal.EditedError](err); !ok {
		return nil
	}
	refused := edited(err, fmt.Sprintf("opening the credentials of private registry %q", en.value.Spec.Name), hostKeysForgotten)
	en.value.HostKeys, en.rec.Sealed = nil, nil
	return errors.Join(refused, en.update(ctx, s))
}
