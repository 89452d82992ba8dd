package translate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func (tr *translation) resources(c *vnfm.Container) map[string]any {
	res := withExclusiveCPUs(c.Resources)
	requests, limits := map[string]any{}, map[string]any{}
	set := func(name string, quantity func(int64) string, request, limit int64) {
		if request > 0 {
			requests[name] = quantity(request)
		}
		if limit > 0 {
			limits[name] = quantity(limit)
		}
	}
	set("cpu", formatCPU, res.CPURequest, res.CPULimit)
	set("memory", formatBytes, res.MemoryRequest, res.MemoryLimit)
	set("ephemeral-storage", formatBytes, res.StorageRequest, res.StorageLimit)
	if len(res.HugePages) > 0 && len(requests)+len(limits) == 0 {
		tr.problem(c.Place, fmt.Sprintf("the container %q has huge pages and neither CPUs nor memory", c.ID),
			"Kubernetes gives huge pages only to a container that asks for CPUs or memory as well")
	}
	for _, pages := range res.HugePages {
		set("hugepages-"+formatBytes(pages.PageSize), formatBytes, pages.Size, pages.Size)
	}
	for _, name := range slices.Sorted(maps.Keys(res.Extended)) {
		if faults := validation.IsQualifiedName(name); len(faults) > 0 || strings.Contains(strings.Split(name, "/")[0], "kubernetes.io") {
			tr.problem(c.Place, fmt.Sprintf("the container %q asks for %q, which cannot be the name of an extended resource", c.ID, name),
				"the name has the domain of its vendor, for example intel.com/sriov")
			continue
		}
		set(name, formatCount, res.Extended[name], res.Extended[name])
	}
	out := map[string]any{}
	if len(requests) > 0 {
		out["requests"] = requests
	}
	if len(limits) > 0 {
		out["limits"] = limits
	}
	return out
}

// withExclusiveCPUs completes the resources of a container with exclusive CPUs: Kubernetes requires requests equal to limits.
func withExclusiveCPUs(res vnfm.Resources) vnfm.Resources {
	if !res.PinnedCPUs && !res.NUMA {
		return res
	}
	fill := func(request, limit *int64) {
		if *request == 0 {
			*request = *limit
		}
		if *limit == 0 {
			*limit = *request
		}
	}
	fill(&res.CPURequest, &res.CPULimit)
	fill(&res.MemoryRequest, &res.MemoryLimit)
	return res
}

// checkExclusiveCPUs rejects resources that prevent exclusive CPUs, or memory in their NUMA node: the CPU manager and the topology
// manager handle only pods of the QoS class Guaranteed, and only whole CPUs.
func (tr *translation) checkExclusiveCPUs(v *vnfm.VDU) {
	wanted := ""
	for i := range v.Workload.Containers {
		c := &v.Workload.Containers[i]
		if c.Resources.PinnedCPUs || c.Resources.NUMA {
			wanted = c.ID
		}
	}
	if wanted == "" {
		return
	}
	for i := range v.Workload.Containers {
		c := &v.Workload.Containers[i]
		res := withExclusiveCPUs(c.Resources)
		own := c.Resources.PinnedCPUs || c.Resources.NUMA
		switch {
		case res.CPURequest == 0 || res.CPURequest != res.CPULimit:
			tr.problem(c.Place, fmt.Sprintf("the container %q prevents exclusive CPUs for %q", c.ID, wanted),
				"every container of the VDU must request as many CPUs as it may use")
		case res.MemoryRequest == 0 || res.MemoryRequest != res.MemoryLimit:
			tr.problem(c.Place, fmt.Sprintf("the container %q prevents exclusive CPUs for %q", c.ID, wanted),
				"every container of the VDU must request as much memory as it may use")
		case own && res.CPURequest%1000 != 0:
			tr.problem(c.Place, fmt.Sprintf("the container %q requests exclusive CPUs, but asks for %s", c.ID, formatCPU(res.CPURequest)),
				"only whole CPUs can be exclusive")
		}
	}
}

// formatCPU writes millicores as a quantity.
func formatCPU(n int64) string { return resource.NewMilliQuantity(n, resource.DecimalSI).String() }

// formatBytes writes bytes as a quantity with binary or decimal units, whichever is shorter.
func formatBytes(n int64) string {
	binary, decimal := resource.NewQuantity(n, resource.BinarySI).String(), formatCount(n)
	if len(decimal) < len(binary) {
		return decimal
	}
	return binary
}

func formatCount(n int64) string { return resource.NewQuantity(n, resource.DecimalSI).String() }

// pageSizes are the sizes of huge pages that the containers of a workload use.
func pageSizes(w *vnfm.Workload) map[int64]bool {
	sizes := map[int64]bool{}
	for i := range w.Containers {
		for _, pages := range w.Containers[i].Resources.HugePages {
			sizes[pages.PageSize] = true
		}
	}
	return sizes
}
