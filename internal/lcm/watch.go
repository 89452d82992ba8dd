package lcm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// watchPatience bounds how long management drivers look at what they have set up.
const watchPatience = 30 * time.Second

// watch has the management drivers of an instance look whether what they have set up is as it should be, and returns what is not, by
// VDU. Those are asked that the repair calls; params are their parameters.
func (e *Engine) watch(ctx context.Context, en *records.Entry[vnfm.Instance], t *vnfm.Target, params func() (map[string]any, error)) (map[string]string, error) {
	i := &en.Value
	if i.Status != vnfm.StatusInstantiated || i.OperationalState == vnfm.Stopped || t.Flavour == nil {
		return nil, nil
	}
	watches := func(b hooks.Binding) bool { _, ok := b.Driver.(vnfm.Watcher); return ok }
	if !slices.ContainsFunc(e.management().All(t.Flavour), watches) {
		return nil, nil
	}
	o := hooks.Operation{Kind: vnfm.OpHeal, Package: t.Package, Flavour: t.Flavour, Request: specOf(i), Changes: allReplaced(t.Flavour)}
	var err error
	if o.Request.Management, err = params(); err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	found, err := o.Watch(within, e.management().At(&o, true), vnfm.HookCall{
		End: true, Instance: i, HostKeys: knownKeys(i.HostKeys), Recorder: unheard{},
		Resources: func(ctx context.Context) (*vnfm.ResourceInfo, error) { return e.resourcesOf(ctx, en) },
	}, func(driver string) vnfm.DriverState { return knownState(i.DriverStates[driver]) })
	if err != nil {
		return nil, fmt.Errorf("looking at what management drivers have set up for VNF instance %q: %w", i.Name, err)
	}
	return found, nil
}

// watchInto adds to an observation what management drivers find.
func (e *Engine) watchInto(ctx context.Context, en *records.Entry[vnfm.Instance], t *vnfm.Target, seen *vnfm.Observation) error {
	found, err := e.watch(ctx, en, t, func() (map[string]any, error) {
		had, err := e.openParams(ctx, en)
		return e.withRunParams(ctx, &en.Value, had.management), err
	})
	for vdu, text := range found {
		key := objectOf(seen.Objects, vdu)
		if key == "" {
			continue
		}
		if was, drifted := strings.CutPrefix(seen.Objects[key], vnfm.Drifted); drifted {
			text = was + ", " + text
		}
		seen.Objects[key] = vnfm.Drifted + text
	}
	return err
}

// watched is what management drivers find while an instance is updated. What cannot be looked at is taken for as it should be: the next
// refresh says why.
func (u *update) watched(ctx context.Context, t *vnfm.Target) []string {
	found, err := u.engine.watch(ctx, u.instance, t, func() (map[string]any, error) { return u.spec.Management, nil })
	if err != nil {
		return nil
	}
	var out []string
	for _, vdu := range slices.Sorted(maps.Keys(found)) {
		out = append(out, fmt.Sprintf("VDU %s: %s", vdu, found[vdu]))
	}
	return out
}

// objectOf is the object of an observation that shows what is said of a VDU: that of its name, or else the first; empty when there is none.
func objectOf(objects map[string]string, vdu string) string {
	keys := slices.Sorted(maps.Keys(objects))
	for _, key := range keys {
		_, own := vnfm.CutConnection(key)
		if _, name, ok := strings.Cut(own, " "); ok && name == vdu {
			return key
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return keys[0]
}

// unheard is the recorder of those who change nothing.
type unheard struct{ vnfm.Recorder }

// Progress implements vnfm.Recorder.
func (unheard) Progress(context.Context, string) {}

// knownState is what a driver has written down, for reading.
type knownState json.RawMessage

// Load implements vnfm.DriverState.
func (s knownState) Load(into any) error {
	if len(s) == 0 {
		return nil
	}
	return json.Unmarshal(s, into)
}

// Save implements vnfm.DriverState.
func (knownState) Save(context.Context, any) error {
	return errors.New("what a management driver keeps is not written where it only looks")
}
