package lcm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestCheckPodNames: the name of a pod is refused with the id to write, and ids of VNFCs are taken for none.
func TestCheckPodNames(t *testing.T) {
	f := &vnfm.Flavour{VDUs: []vnfm.VDU{{ID: "web"}, {ID: "amf"}, {ID: "crd"}, {ID: "FW"}, {ID: "db"}}}
	states := map[string]vnfm.VDUState{
		"web": {Kind: "Deployment", Name: "web"}, "amf": {Kind: "StatefulSet", Name: "core-amf"}, "crd": {Kind: "CloneSet", Name: "crd"},
		"FW": {Kind: "OS::Nova::Server", Name: "FW"}, "db": {Kind: "Pod", Name: "db"},
	}
	for id, want := range map[string]string{
		"web-web-5d8-x": "", "amf-core-amf-0": "", "crd-0": "", "FW-1b2c": "", "db-db": "", "web-gone": `write "web-web-gone"`,
		"web-5d8-x": `write "web-web-5d8-x"`, "core-amf-0": `write "amf-core-amf-0"`, "db": `write "db-db"`, "other": "",
	} {
		for attribute, spec := range map[string]vnfm.InstanceSpec{
			"heal.vnfc_ids": {Heal: &vnfm.HealSpec{VNFCIDs: []string{id}}}, "scale_in_vnfc_ids": {ScaleInVNFCIDs: []string{id}},
		} {
			var problems vnfm.Problems
			checkPodNames(f, states, &spec, &problems)
			if want == "" {
				require.Empty(t, problems, id)
				continue
			}
			require.Len(t, problems, 1, id)
			require.Equal(t, attribute, problems[0].Attribute)
			require.Contains(t, problems[0].Detail, want)
		}
	}
}
