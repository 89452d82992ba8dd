package lcm

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// namedAfterWorkload are the kinds of workloads whose names begin those of their pods.
var namedAfterWorkload = []string{"DaemonSet", "Deployment", "Pod", "ReplicaSet", "StatefulSet"}

// checkPodNames finds names of pods where a request is to have ids of VNFCs.
func checkPodNames(f *vnfm.Flavour, vdus map[string]vnfm.VDUState, spec *vnfm.InstanceSpec, problems *vnfm.Problems) {
	isPodOf := func(vdu, name string) bool {
		s := vdus[vdu]
		return slices.Contains(namedAfterWorkload, s.Kind) && (name == s.Name || strings.HasPrefix(name, s.Name+"-"))
	}
	check := func(attribute string, ids []string) {
		for _, id := range ids {
			if own := f.VDUOf(id); isPodOf(own, strings.TrimPrefix(id, own+"-")) {
				continue
			}
			for _, vdu := range slices.Sorted(maps.Keys(vdus)) {
				if isPodOf(vdu, id) {
					*problems = append(*problems, vnfm.Problem{
						Attribute: attribute,
						Summary:   strconv.Quote(id) + " is the name of a pod, not the id of a VNFC",
						Detail:    "the id begins with the VDU: write " + strconv.Quote(vdu+"-"+id),
					})
					break
				}
			}
		}
	}
	if spec.Heal != nil {
		check(attributeHealVNFCs, spec.Heal.VNFCIDs)
	}
	check(attributeScaleIn, spec.ScaleInVNFCIDs)
}
