package lcm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// goneLimit is for one question whether a VIM is there.
const goneLimit = 10 * time.Second

// forgets reports whether an instance is forgotten that is on a VIM which cannot be reached, by its own argument, else by that of its
// VIM, else by that of the provider.
func (e *Engine) forgets(ctx context.Context, vimID string, own, fallback vnfm.OnUnreachable) bool {
	if own == "" {
		// A VIM without a record has no argument.
		if v, err := e.vims.VIM(ctx, vimID); err == nil {
			own = v.OnUnreachable
		}
	}
	return cmp.Or(own, fallback) == vnfm.OnUnreachableForget
}

// allUnreachable returns why the VIMs of an instance cannot be reached, nil when one of them can or when that cannot be told.
func (e *Engine) allUnreachable(ctx context.Context, i *vnfm.Instance) error {
	var reasons []error
	for _, id := range i.VIMIDs() {
		why := e.unreachable(ctx, id)
		if why == nil {
			return nil
		}
		reasons = append(reasons, why)
	}
	return errors.Join(reasons...)
}

// unreachable returns why a VIM cannot be reached, nil when it answers, whatever the answer is.
func (e *Engine) unreachable(ctx context.Context, id string) error {
	gone, err := vnfm.UntilGone(ctx, func() error {
		_, err := e.vims.CheckRegisteredVIM(ctx, id, goneLimit)
		return err
	})
	if !gone {
		return nil
	}
	return err
}

// forget ends an instance whose VIMs cannot be reached: its records go, and spec.LeftBehind gets all that its inventory names.
func (e *Engine) forget(ctx context.Context, s store.Store, en *records.Entry[vnfm.Instance], spec vnfm.TerminateSpec, gone error) error {
	if err := checkUnused(ctx, s, &en.Value); err != nil {
		return err
	}
	op, err := e.beginTermination(ctx, s, en, spec)
	if err != nil {
		return err
	}
	if id := en.Value.RegisteredVIMID; id != "" {
		if err := e.DeregisterVIM(ctx, id); err != nil && !errors.Is(err, vnfm.ErrNotFound) {
			return e.keepFailed(ctx, op, err)
		}
	}
	if spec.LeftBehind != nil {
		reason := fmt.Sprintf("on_unreachable is \"forget\", and %s; nothing was deleted and no hook was run; "+
			"delete it there if the VIM comes back", strings.ReplaceAll(vnfm.ConcealedIn(ctx).Error(gone).Error(), "\n", "; "))
		for k := range en.Value.Inventory {
			spec.LeftBehind(describeItem(&en.Value.Inventory[k]), reason)
		}
		if len(en.Value.Inventory) == 0 {
			spec.LeftBehind(fmt.Sprintf("Whatever There Is of %s %q", en.Value.Noun(), en.Value.Name), reason)
		}
	}
	return endTermination(ctx, s, en, op)
}

// describeItem names an item of an inventory: "apps/v1/Deployment namespace/name".
func describeItem(item *vnfm.InventoryItem) string {
	kind := string(item.Type)
	if item.Kind != "" {
		kind = strings.TrimPrefix(item.Group+"/"+item.Version+"/"+item.Kind, "/")
	}
	text := strings.TrimSpace(kind + " " + strings.TrimPrefix(item.Namespace+"/"+item.Name, "/"))
	switch {
	case item.Connection != "":
		text += " on the VIM connection " + item.Connection
	case item.Addon != "":
		text += " of the add-on " + item.Addon
	}
	return text
}
