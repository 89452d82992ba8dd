package lcm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// keptArguments are what a user asked for, as the VIM of an instance keeps it. What is secret, and the parameters of management
// drivers, which may be, are not among them.
type keptArguments struct {
	vnfm.Instance
	// VIMs are the names of the further VIMs by their ids, which are those of one store.
	VIMs map[string]string `json:"vims,omitempty"`
}

// arguments returns what is kept of an instance that is led to a spec.
func (e *Engine) arguments(ctx context.Context, i *vnfm.Instance, spec *vnfm.InstanceSpec) ([]byte, error) {
	kept := keptArguments{Instance: vnfm.Instance{
		Name: i.Name, Description: i.Description, Metadata: i.Metadata, Namespace: i.Namespace,
		PackageID: i.PackageID, Cluster: i.Cluster, FlavourID: i.FlavourID, LevelID: i.LevelID, ScaleLevels: i.ScaleLevels,
		Connections: i.Connections, Links: i.Links, AdditionalParams: i.AdditionalParams,
		OperationalState: i.OperationalState, Readiness: i.Readiness, HealTrigger: i.HealTrigger, Rotation: i.Rotation, RegenerateTrigger: i.RegenerateTrigger,
		AddonTriggers: i.AddonTriggers,
		Arguments:     i.Arguments,
	}}
	if spec.Heal != nil {
		// The heal that runs is not asked for again.
		kept.HealTrigger = spec.Heal.Trigger
	}
	noteTriggers(&kept.Instance, spec)
	ids := furtherVIMs(i)
	if len(ids) > 0 {
		s, err := e.store(ctx)
		if err != nil {
			return nil, err
		}
		kept.VIMs = map[string]string{}
		for _, id := range ids {
			vim, err := vims.Get(ctx, s, id)
			if err != nil {
				return nil, err
			}
			kept.VIMs[id] = vim.Name
		}
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("encoding the arguments of %s %q: %w", i.Noun(), i.Name, err)
	}
	return text, nil
}

// furtherVIMs are the VIMs that an instance refers to besides its own.
func furtherVIMs(i *vnfm.Instance) []string {
	var out []string
	for _, c := range i.Connections {
		out = append(out, c.VIMID)
	}
	if i.Cluster != nil && i.Cluster.OpenStack != nil {
		out = append(out, i.Cluster.OpenStack.VIMID)
	}
	return out
}

// readArguments reads what was kept of an instance that a VIM was found to have. Without it the objects tell package and name alone.
func (e *Engine) readArguments(ctx context.Context, vim *vnfm.VIM, f *vnfm.FoundInstance) (*vnfm.Instance, error) {
	kept := keptArguments{Instance: vnfm.Instance{Name: f.Name, Namespace: f.Namespace, PackageID: f.PackageID, OperationalState: vnfm.Started}}
	if len(f.Arguments) > 0 {
		if err := json.Unmarshal(f.Arguments, &kept); err != nil {
			return nil, fmt.Errorf("reading the arguments of instance %s on VIM %q: %w", f.ID, vim.Name, err)
		}
	}
	i := &kept.Instance
	i.ID, i.VIMID = f.ID, vim.ID
	ids := map[string]string{}
	for was, name := range kept.VIMs {
		id, err := e.vimNow(ctx, was, name)
		if err != nil {
			return nil, fmt.Errorf("a part of %s %q is on VIM %q: %w", i.Noun(), i.Name, name, err)
		}
		ids[was] = id
	}
	for was, id := range ids {
		// Ids are found nowhere else in a text.
		i.Arguments = bytes.ReplaceAll(i.Arguments, []byte(was), []byte(id))
	}
	for name, c := range i.Connections {
		if id, ok := ids[c.VIMID]; ok {
			c.VIMID = id
			i.Connections[name] = c
		}
	}
	if i.Cluster != nil && i.Cluster.OpenStack != nil {
		if id, ok := ids[i.Cluster.OpenStack.VIMID]; ok {
			i.Cluster.OpenStack.VIMID = id
		}
	}
	return i, nil
}

// vimNow is the id that a VIM has in this store, given the one that it had in another store.
func (e *Engine) vimNow(ctx context.Context, was, name string) (string, error) {
	_, err := e.VIM(ctx, was)
	if err == nil {
		return was, nil
	}
	if !errors.Is(err, vnfm.ErrNotFound) {
		return "", err
	}
	vim, err := e.VIMByName(ctx, name)
	if err != nil {
		return "", err
	}
	return vim.ID, nil
}
