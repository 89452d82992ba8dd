package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The supported keys of vdu_storage_requirements.
const (
	demandClass  = "storage_class_name"
	demandAccess = "access_mode"
	demandMount  = "mount_path"
)

// mountRoot is the parent directory of storages without a mount path.
const mountRoot = "/mnt/"

var accessModes = []string{"ReadWriteOnce", "ReadWriteOncePod", "ReadOnlyMany", "ReadWriteMany"}

// storages are the storages that a VDU requires.
func (tr *translation) storages(v *vnfm.VDU) []*vnfm.Storage {
	var list []*vnfm.Storage
	for _, id := range v.StorageIDs {
		if s := tr.target.Flavour.Storage(id); s != nil {
			list = append(list, s)
		}
	}
	return list
}

func (tr *translation) hasOwnStorage(v *vnfm.VDU) bool {
	return slices.ContainsFunc(tr.storages(v), func(s *vnfm.Storage) bool { return s.PerVNFC })
}

// sharedClaims makes one claim for each shared storage, even if several VDUs require the storage.
func (tr *translation) sharedClaims(v *vnfm.VDU) {
	for _, s := range tr.storages(v) {
		if s.PerVNFC || tr.hasClaim[s.ID] {
			continue
		}
		tr.hasClaim[s.ID] = true
		meta := map[string]any{"name": tr.claimName(s)}
		if v.Workload.Namespace != "" {
			meta["namespace"] = v.Workload.Namespace
		}
		tr.add(s.Place, map[string]any{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": tr.claim(s, "ReadWriteMany"),
		})
	}
}

// claimTemplates makes the claims of storages that each VNFC has exclusively.
func (tr *translation) claimTemplates(v *vnfm.VDU) []any {
	var claims []any
	for _, s := range tr.storages(v) {
		if s.PerVNFC {
			claims = append(claims, map[string]any{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim",
				"metadata": map[string]any{"name": tr.storageName(s)}, "spec": tr.claim(s, "ReadWriteOnce"),
			})
		}
	}
	return claims
}

func (tr *translation) claim(s *vnfm.Storage, access string) map[string]any {
	switch {
	case strings.HasSuffix(s.Type, "ObjectStorage"):
		tr.problem(s.Place, fmt.Sprintf("the storage %q is an object storage, which Kubernetes does not support", s.ID),
			"use a VirtualBlockStorage or a VirtualFileStorage")
	case len(s.SWImages) > 0:
		tr.problem(s.Place, fmt.Sprintf("the storage %q has an image, but Kubernetes fills no volume with an image", s.ID), "remove the image; an init container can fill the volume")
	case s.SizeBytes == 0:
		tr.problem(s.Place, fmt.Sprintf("the storage %q has no size", s.ID), "give it size_of_storage")
	}
	if mode := s.Demands[demandAccess]; mode != "" {
		if !slices.Contains(accessModes, mode) {
			tr.problem(s.Place, fmt.Sprintf("the storage %q has the %s %q", s.ID, demandAccess, mode), "it can be "+strings.Join(accessModes, ", "))
		}
		access = mode
	}
	spec := map[string]any{
		"accessModes": []any{access},
		"resources":   map[string]any{"requests": map[string]any{"storage": formatBytes(s.SizeBytes)}},
	}
	if class := s.Demands[demandClass]; class != "" {
		spec["storageClassName"] = class
	}
	return spec
}

// claimName is the name of the claim of a shared storage. The name is qualified by the first VDU that requires the storage.
func (tr *translation) claimName(s *vnfm.Storage) string {
	vdus := tr.target.Flavour.VDUs
	first := slices.IndexFunc(vdus, func(v vnfm.VDU) bool { return slices.Contains(v.StorageIDs, s.ID) })
	name, _ := tr.name(s.Place, "storage", tr.qualifiedName(&vdus[first], s.ID))
	return name
}

func (tr *translation) storageName(s *vnfm.Storage) string {
	name, _ := tr.name(s.Place, "storage", s.ID)
	return name
}

// storageVolumes are the volumes of shared storages; claim templates create the others.
func (tr *translation) storageVolumes(v *vnfm.VDU) []any {
	var volumes []any
	for _, s := range tr.storages(v) {
		if !s.PerVNFC {
			volumes = append(volumes, map[string]any{
				"name": kubernetesName(s.ID), "persistentVolumeClaim": map[string]any{"claimName": tr.claimName(s)},
			})
		}
	}
	return volumes
}

// storageMounts mounts all storages of a VDU in a container.
func (tr *translation) storageMounts(v *vnfm.VDU) []any {
	var mounts []any
	for _, s := range tr.storages(v) {
		path := s.Demands[demandMount]
		if path == "" {
			path = mountRoot + kubernetesName(s.ID)
		}
		if !strings.HasPrefix(path, "/") || strings.Contains(path, ":") {
			tr.problem(s.Place, fmt.Sprintf("the storage %q has the %s %q", s.ID, demandMount, path), "it must begin with / and have no colon")
		}
		mounts = append(mounts, map[string]any{"name": kubernetesName(s.ID), "mountPath": path})
	}
	return mounts
}

// hugePageVolumes are the volumes for huge pages, one for each page size.
func hugePageVolumes(w *vnfm.Workload) []any {
	sizes := pageSizes(w)
	var volumes []any
	for _, pages := range slices.Sorted(maps.Keys(sizes)) {
		medium := "HugePages"
		if len(sizes) > 1 {
			medium += "-" + formatBytes(pages)
		}
		volumes = append(volumes, map[string]any{"name": hugePageVolume(pages), "emptyDir": map[string]any{"medium": medium}})
	}
	return volumes
}

func hugePageMounts(w *vnfm.Workload, c *vnfm.Container) []any {
	var mounts []any
	for _, pages := range c.Resources.HugePages {
		path := "/dev/hugepages"
		if len(pageSizes(w)) > 1 {
			path += "-" + formatBytes(pages.PageSize)
		}
		mounts = append(mounts, map[string]any{"name": hugePageVolume(pages.PageSize), "mountPath": path})
	}
	return mounts
}

func hugePageVolume(pages int64) string { return "hugepages-" + strings.ToLower(formatBytes(pages)) }
