package heat

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// assets finds what the VIM has for the demands of the stack. An earlier choice is
// kept as long as it fits: a cloud that gets a smaller flavor moves no server.
// An image that the package brings is uploaded unless dry is set.
func (s *session) assets(ctx context.Context, before map[string]hot.Asset, dry bool) (map[hot.DemandKey]hot.Asset, vnfm.Problems, error) {
	var ps vnfm.Problems
	out := map[hot.DemandKey]hot.Asset{}
	demands := s.source.Demands(s.request)
	var flavors []openstack.Flavor
	images := map[string][]openstack.Image{}
	for _, key := range slices.SortedFunc(maps.Keys(demands), func(a, b hot.DemandKey) int { return cmp.Compare(assetName(a), assetName(b)) }) {
		demand, asset := demands[key], hot.Asset{}
		if wantsFlavor(&demand) {
			if flavors == nil {
				var err error
				if flavors, err = s.client.AllFlavors(ctx); err != nil {
					return nil, nil, err
				}
			}
			if asset.FlavorID = chooseFlavor(flavors, &demand, before[assetName(key)].FlavorID); asset.FlavorID == "" {
				ps = append(ps, s.noFlavor(&demand, flavors))
			}
		}
		if demand.Image != nil {
			if file := bundled(s.target.Package, demand.Image); file != nil {
				var err error
				if dry {
					asset.ImageID, err = s.findImage(ctx, file)
				} else {
					asset.ImageID, err = s.provideImage(ctx, demand.Image, file)
				}
				if err != nil {
					return nil, nil, err
				}
				out[key] = asset
				continue
			}
			found, asked := images[demand.Image.Name]
			if !asked {
				var err error
				if found, err = s.client.Images(ctx, "", demand.Image.Name); err != nil {
					return nil, nil, err
				}
				images[demand.Image.Name] = found
			}
			var problem *vnfm.Problem
			if asset.ImageID, problem = s.chooseImage(found, &demand, before[assetName(key)].ImageID); problem != nil {
				ps = append(ps, *problem)
			}
		}
		out[key] = asset
	}
	return out, ps, nil
}

// nameMissingImages has images of the package that the VIM does not have yet go by their digests.
func (s *session) nameMissingImages(assets map[hot.DemandKey]hot.Asset) {
	for key, demand := range s.source.Demands(s.request) {
		if demand.Image == nil || assets[key].ImageID != "" {
			continue
		}
		if file := bundled(s.target.Package, demand.Image); file != nil {
			asset := assets[key]
			asset.ImageID = digestTag(file.Digest)
			assets[key] = asset
		}
	}
}

// assetName is how the note of a stack has what was chosen for a demand.
func assetName(key hot.DemandKey) string {
	if key.Storage == "" {
		return key.VDUID
	}
	return key.VDUID + "/" + key.Storage
}

// wantsFlavor is false for the image of a storage, which has no size of its own.
func wantsFlavor(d *hot.Demand) bool {
	return d.Storage == "" && (d.FlavorName != "" || d.CPUs > 0 || d.MemoryBytes > 0 || d.StorageBytes > 0 || len(d.ExtraSpecs) > 0)
}

const (
	mebibyte = 1 << 20
	gibibyte = 1 << 30
)

// chooseFlavor is the flavor that a demand names, else the smallest that has what it
// asks for: the fewest CPUs, then the least memory, disk and specialities nobody asked for.
func chooseFlavor(all []openstack.Flavor, d *hot.Demand, before string) string {
	var fitting []openstack.Flavor
	for _, f := range all {
		if d.FlavorName != "" {
			if f.Name == d.FlavorName || f.ID == d.FlavorName {
				return f.ID
			}
			continue
		}
		if !fits(&f, d) {
			continue
		}
		if f.ID == before {
			return f.ID
		}
		fitting = append(fitting, f)
	}
	if len(fitting) == 0 {
		return ""
	}
	return slices.MinFunc(fitting, func(a, b openstack.Flavor) int {
		return cmp.Or(cmp.Compare(a.VCPUs, b.VCPUs), cmp.Compare(a.RAM, b.RAM), cmp.Compare(a.Disk, b.Disk),
			cmp.Compare(len(a.ExtraSpecs), len(b.ExtraSpecs)), strings.Compare(a.Name, b.Name))
	}).ID
}

func fits(f *openstack.Flavor, d *hot.Demand) bool {
	for name, value := range d.ExtraSpecs {
		if f.ExtraSpecs[name] != value {
			return false
		}
	}
	return f.VCPUs >= d.CPUs && int64(f.RAM)*mebibyte >= d.MemoryBytes && int64(f.Disk)*gibibyte >= d.StorageBytes
}

func (s *session) noFlavor(d *hot.Demand, all []openstack.Flavor) vnfm.Problem {
	names := make([]string, 0, len(all))
	for _, f := range all {
		names = append(names, fmt.Sprintf("%s (%d CPUs, %d MiB, %d GiB)", f.Name, f.VCPUs, f.RAM, f.Disk))
	}
	p := vnfm.Problem{
		Attribute: "vim_id",
		Summary:   fmt.Sprintf("VIM %q has no flavor for VDU %q", s.target.VIM.Name, d.VDUID),
		Detail:    fmt.Sprintf("it needs %s; the flavors of the project are %s; have one created, or choose one by additional_params.nfv.VDU.%s", describe(d), strings.Join(names, ", "), d.VDUID),
	}
	if len(names) == 0 {
		p.Detail = fmt.Sprintf("it needs %s; the project has no flavor", describe(d))
	}
	return p
}

// describe says what a demand asks of a flavor.
func describe(d *hot.Demand) string {
	if d.FlavorName != "" {
		return fmt.Sprintf("flavor %q", d.FlavorName)
	}
	words := []string{fmt.Sprintf("%d CPUs", d.CPUs), fmt.Sprintf("%d MiB of memory", d.MemoryBytes/mebibyte)}
	if d.StorageBytes > 0 {
		words = append(words, fmt.Sprintf("%d GiB of disk", d.StorageBytes/gibibyte))
	}
	for _, name := range slices.Sorted(maps.Keys(d.ExtraSpecs)) {
		words = append(words, name+"="+d.ExtraSpecs[name])
	}
	return strings.Join(words, ", ")
}

// chooseImage is the active image of that name. Of several, the one that was chosen before
// is meant, and without one nobody can tell.
func (s *session) chooseImage(found []openstack.Image, d *hot.Demand, before string) (string, *vnfm.Problem) {
	found = slices.DeleteFunc(slices.Clone(found), func(i openstack.Image) bool { return i.Status != "active" })
	if i := slices.IndexFunc(found, func(i openstack.Image) bool { return i.ID == before }); i >= 0 {
		return before, nil
	}
	problem := vnfm.Problem{Attribute: "vim_id"}
	switch len(found) {
	case 1:
		return found[0].ID, nil
	case 0:
		problem.Summary = fmt.Sprintf("VIM %q has no image %q, which VDU %q asks for", s.target.VIM.Name, d.Image.Name, d.VDUID)
		problem.Detail = fmt.Sprintf("put it into Glance, visible to the project, or choose another one by additional_params.nfv.VDU.%s", d.VDUID)
	default:
		problem.Summary = fmt.Sprintf("VIM %q has %d images %q, which VDU %q asks for", s.target.VIM.Name, len(found), d.Image.Name, d.VDUID)
		problem.Detail = fmt.Sprintf("choose one of them by its id, by additional_params.nfv.VDU.%s", d.VDUID)
	}
	return "", &problem
}
