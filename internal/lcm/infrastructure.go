package lcm

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// infrastructure is the infra driver that previews an instance: that of the type of its
// VIM, or, as long as the VIM is not registered, that of what the package is for. A
// package for several kinds of infrastructure has to wait for its VIM.
func (e *Engine) infrastructure(ctx context.Context, spec vnfm.InstanceSpec, r *resolution) (vnfm.InfraDriver, error) {
	if spec.Cluster != nil {
		return e.driver(vnfm.VIMTypeKubernetes)
	}
	d, err := e.registeredDriver(ctx, spec.VIMID)
	if !errors.Is(err, vnfm.ErrNotFound) {
		return d, err
	}
	types := typesFor(r)
	if len(types) > 1 {
		return nil, err
	}
	return e.driver(types[0])
}

// registeredDriver is the infra driver for a VIM, by its record alone.
func (e *Engine) registeredDriver(ctx context.Context, vimID string) (vnfm.InfraDriver, error) {
	s, err := e.store(ctx)
	if err != nil {
		return nil, err
	}
	vim, err := get[vimRecord](ctx, s, store.KindVIM, vimID)
	if err != nil {
		return nil, err
	}
	return e.driver(vim.value.Type)
}

// baseHOT is the folder of a package that has its Heat templates, by flavour.
const baseHOT = "BaseHOT"

// typesFor are the types of VIM that a package can be instantiated on.
func typesFor(r *resolution) []vnfm.VIMType {
	containers := len(r.pkg.KubernetesFiles) > 0 || len(r.flavour.MCIOPs) > 0
	machines := false
	for i := range r.flavour.VDUs {
		containers = containers || r.flavour.VDUs[i].Workload != nil
		machines = machines || len(r.flavour.VDUs[i].SWImages) > 0 && r.flavour.VDUs[i].Workload == nil
	}
	templates := false
	for _, f := range r.pkg.Files {
		templates = templates || strings.HasPrefix(f.Path, path.Join(baseHOT, r.flavour.ID)+"/")
	}
	switch {
	case containers && templates:
		return []vnfm.VIMType{vnfm.VIMTypeKubernetes, vnfm.VIMTypeOpenStack}
	case templates, machines && !containers:
		return []vnfm.VIMType{vnfm.VIMTypeOpenStack}
	default:
		return []vnfm.VIMType{vnfm.VIMTypeKubernetes}
	}
}
