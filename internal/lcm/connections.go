package lcm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/multivim"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/vims"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// resolveConnections fills the namespaces that were left out: an instance that is
// there keeps those that it has, else the VIM's default is taken. Two parts of an
// instance must not be in one place, where they would take each other's objects away.
func (e *Engine) resolveConnections(ctx context.Context, s store.Store, spec *vnfm.InstanceSpec, present map[string]vnfm.Connection) error {
	if len(spec.Connections) == 0 {
		return nil
	}
	resolved := make(map[string]vnfm.Connection, len(spec.Connections))
	places := map[string]string{spec.VIMID + "/" + spec.Namespace: "the instance itself"}
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		c := spec.Connections[name]
		if c.Namespace == "" && present[name].VIMID == c.VIMID {
			c.Namespace = present[name].Namespace
		}
		vim, err := vims.Get(ctx, s, c.VIMID)
		if err != nil {
			return fmt.Errorf("VIM connection %q: %w", name, err)
		}
		c.Namespace = e.namespaceOf(vnfm.InstanceSpec{Namespace: c.Namespace}, vim)
		place := c.VIMID + "/" + c.Namespace
		if other, twice := places[place]; twice {
			return &vnfm.InvalidError{Problems: vnfm.Problems{{
				Attribute: multivim.AttributeConnections, Key: name,
				Summary: "namespace " + strconv.Quote(c.Namespace) + " of VIM " + strconv.Quote(vim.Name) + " is already used by " + other,
				Detail:  "give the VIM connection another VIM or namespace",
			}}}
		}
		places[place] = "VIM connection " + strconv.Quote(name)
		resolved[name] = c
	}
	spec.Connections = resolved
	return nil
}

// checkCredentials opens the credentials of all VIMs of a request. Those that cannot be opened
// end it here, before it is an operation.
func (e *Engine) checkCredentials(ctx context.Context, spec *vnfm.InstanceSpec) error {
	if _, _, err := e.vims.Open(ctx, spec.VIMID); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Connections)) {
		if _, _, err := e.vims.Open(ctx, spec.Connections[name].VIMID); err != nil {
			return fmt.Errorf("VIM connection %q: %w", name, err)
		}
	}
	return nil
}

// instancesOn returns the instances that are, or have a part, on a VIM.
func instancesOn(ctx context.Context, s store.Store, vimID string) ([]*records.Entry[vnfm.Instance], error) {
	all, err := records.List[vnfm.Instance](ctx, s, store.Query{Kind: store.KindInstance})
	return slices.DeleteFunc(all, func(en *records.Entry[vnfm.Instance]) bool { return !en.Value.OnVIM(vimID) }), err
}
