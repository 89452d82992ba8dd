package lcm

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// sealedWorkloads is the sealed value of a package record that has the workloads.
const sealedWorkloads = "workloads"

// workloads are those of a descriptor by flavour and VDU.
type workloads map[string]map[string]*vnfm.Workload

func workloadsOf(d *vnfm.Descriptor) workloads {
	all := workloads{}
	for i := range d.Flavours {
		f := &d.Flavours[i]
		for j := range f.VDUs {
			if v := &f.VDUs[j]; v.Workload != nil {
				if all[f.ID] == nil {
					all[f.ID] = map[string]*vnfm.Workload{}
				}
				all[f.ID][v.ID] = v.Workload
			}
		}
	}
	return all
}

// sealWorkloads seals what a VNFD says of its containers, which the record itself
// leaves out: their settings may be as secret as the content that they stand in.
func sealWorkloads(ctx context.Context, s *seal.Store, en *entry[packageRecord]) error {
	all := workloadsOf(en.value.Descriptor)
	if len(all) == 0 {
		return nil
	}
	text, err := json.Marshal(all)
	if err == nil {
		en.rec.Sealed, err = s.Seal(ctx, en.rec.ID, map[string]string{sealedWorkloads: string(text)})
	}
	if err != nil {
		return fmt.Errorf("sealing the containers of VNF package %q: %w", en.rec.ID, err)
	}
	return nil
}

// openWorkloads puts back what sealWorkloads sealed.
func openWorkloads(ctx context.Context, s *seal.Store, en *entry[packageRecord]) error {
	if len(en.rec.Sealed) == 0 || en.value.Descriptor == nil {
		return nil
	}
	var all workloads
	plain, err := s.Open(ctx, en.rec.ID, en.rec.Sealed)
	if err == nil {
		err = json.Unmarshal([]byte(plain[sealedWorkloads]), &all)
	}
	if err != nil {
		return fmt.Errorf("opening the containers of VNF package %q: %w", en.rec.ID, err)
	}
	for id, vdus := range all {
		f := en.value.Descriptor.Flavour(id)
		for vdu, w := range vdus {
			f.VDU(vdu).Workload = w
		}
	}
	return nil
}
