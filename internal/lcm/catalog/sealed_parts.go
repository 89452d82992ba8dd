package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The sealed values of a package record: what its VNFD says of containers, and of the
// data that servers boot with; how one gets into its source.
const (
	sealedWorkloads = "workloads"
	sealedBootData  = "boot_data"
	sealedAccess    = "access"
)

// byVDU are parts of a descriptor by flavour and VDU.
type byVDU[T any] map[string]map[string]*T

func partsOf[T any](d *vnfm.Descriptor, of func(*vnfm.VDU) *T) byVDU[T] {
	all := byVDU[T]{}
	for i := range d.Flavours {
		f := &d.Flavours[i]
		for j := range f.VDUs {
			part := of(&f.VDUs[j])
			if part == nil {
				continue
			}
			if all[f.ID] == nil {
				all[f.ID] = map[string]*T{}
			}
			all[f.ID][f.VDUs[j].ID] = part
		}
	}
	return all
}

// restore gives the parts to their VDUs. A VDU that is not as it was sealed is an error: the
// record was edited since.
func (all byVDU[T]) restore(d *vnfm.Descriptor, to func(*vnfm.VDU, *T) bool) error {
	for id, vdus := range all {
		f := d.Flavour(id)
		for vdu, part := range vdus {
			if f == nil || f.VDU(vdu) == nil || !to(f.VDU(vdu), part) {
				return fmt.Errorf("VDU %s of deployment flavour %s differs from what was sealed: the record was edited; onboard the package again", strconv.Quote(vdu), strconv.Quote(id))
			}
		}
	}
	return nil
}

// sealWorkloads seals what a VNFD says of its containers and of what servers boot with,
// which the record itself leaves out: it may be as secret as the content that it stands in.
func sealWorkloads(ctx context.Context, s *seal.Store, en *records.Entry[packageRecord]) error {
	d := en.Value.Descriptor
	plain := map[string]string{}
	err := addSealed(plain, sealedWorkloads, partsOf(d, func(v *vnfm.VDU) *vnfm.Workload { return v.Workload }))
	if err == nil {
		err = addSealed(plain, sealedBootData, partsOf(d, func(v *vnfm.VDU) *vnfm.BootData {
			if v.Compute == nil {
				return nil
			}
			return v.Compute.BootData
		}))
	}
	if err == nil {
		err = addAccess(plain, en.Value.access)
	}
	if err == nil && len(plain) > 0 {
		en.Rec.Sealed, err = s.Seal(ctx, en.Rec.ID, plain)
	}
	if err != nil {
		return fmt.Errorf("sealing the containers of VNF package %q: %w", en.Rec.ID, err)
	}
	return nil
}

func addSealed[T any](plain map[string]string, name string, parts byVDU[T]) error {
	if len(parts) == 0 {
		return nil
	}
	text, err := json.Marshal(parts)
	plain[name] = string(text)
	return err
}

// openWorkloads puts back what sealWorkloads sealed.
func openWorkloads(ctx context.Context, s *seal.Store, en *records.Entry[packageRecord]) error {
	if len(en.Rec.Sealed) == 0 || en.Value.Descriptor == nil {
		return nil
	}
	plain, err := s.Open(ctx, en.Rec.ID, en.Rec.Sealed)
	if err == nil {
		en.Value.access, err = readAccess(plain[sealedAccess])
	}
	if text := plain[sealedWorkloads]; err == nil && text != "" {
		var all byVDU[vnfm.Workload]
		if err = json.Unmarshal([]byte(text), &all); err == nil {
			err = all.restore(en.Value.Descriptor, func(v *vnfm.VDU, w *vnfm.Workload) bool {
				v.Workload = w
				return true
			})
		}
	}
	if text := plain[sealedBootData]; err == nil && text != "" {
		var all byVDU[vnfm.BootData]
		if err = json.Unmarshal([]byte(text), &all); err == nil {
			err = all.restore(en.Value.Descriptor, func(v *vnfm.VDU, b *vnfm.BootData) bool {
				if v.Compute == nil {
					return false
				}
				v.Compute.BootData = b
				return true
			})
		}
	}
	if err != nil {
		return fmt.Errorf("opening the containers of VNF package %q: %w", en.Rec.ID, err)
	}
	return nil
}
