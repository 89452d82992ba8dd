package kubernetes

import (
	"context"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// CheckTermination rejects the termination of an instance that contains kinds and their controllers while foreign objects of these
// kinds carry finalizers. The termination would remove the controllers that process the finalizers. Such an object, and its
// namespace, could then not be deleted any more.
//
// A forceful termination, and one that keeps the definitions, leave the objects to the next installation of the controllers.
func (d *Driver) CheckTermination(ctx context.Context, t *vnfm.Target, spec vnfm.TerminateSpec) error {
	definitions, controlled := definitionsOf(t.Instance)
	if len(definitions) == 0 || !controlled || spec.Type == vnfm.Forceful || spec.Definitions == vnfm.SharedKeep {
		return nil
	}
	s, err := d.connect(t, nil)
	if err != nil {
		return err
	}
	stranded, err := s.strandedObjects(ctx, definitions)
	if err != nil || len(stranded) == 0 {
		return err
	}
	e := &vnfm.StrandedError{Instance: t.Instance.Name}
	for _, p := range stranded {
		e.Objects = append(e.Objects, p.String())
	}
	return e
}

// definitionsOf returns the definitions in the inventory of an instance, and whether there
// are workloads that may be their controllers.
func definitionsOf(i *vnfm.Instance) (definitions []vnfm.InventoryItem, controlled bool) {
	for _, item := range i.Inventory {
		p := &targetObject{item: item, wave: render.WaveOf(item.Group, item.Kind)}
		switch {
		case isDefinition(p):
			definitions = append(definitions, item)
		case isWorkload(p) || isPod(p):
			controlled = true
		}
	}
	return definitions, controlled
}

// strandedObjects returns the foreign objects of the definitions' kinds that have finalizers. An object with an owner among them is
// left out, because the garbage collector deletes it after its owner.
func (s *session) strandedObjects(ctx context.Context, definitions []vnfm.InventoryItem) ([]*targetObject, error) {
	s.saved = s.target.Instance.Inventory
	r := removal{session: s}
	found := make([][]*targetObject, len(definitions))
	existing := make([]*targetObject, 0, len(definitions))
	for _, item := range definitions {
		kind, ok, err := s.resolveExisting(ctx, gvkOf(&item))
		if err != nil || !ok {
			return nil, err
		}
		existing = append(existing, s.objectNamed(kube.Ref{Resource: kind}, item.Name, nil))
	}
	if err := s.readLive(ctx, existing, readOptions{}); err != nil {
		return nil, err
	}
	err := s.each(ctx, len(existing), false, func(ctx context.Context, i int) (err error) {
		p := existing[i]
		if p.live == nil || !s.belongs(p) || r.isKept(p) {
			// The definition stays, and so do the objects of its kind.
			return nil
		}
		found[i], err = s.foreignObjects(ctx, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	held := slices.DeleteFunc(slices.Concat(found...), func(p *targetObject) bool { return len(p.live.Finalizers) == 0 })
	unowned, owned := splitOwned(held)
	if len(unowned) == 0 {
		return owned, nil
	}
	return unowned, nil
}
