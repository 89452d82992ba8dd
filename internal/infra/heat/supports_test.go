package heat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestSupports: a package is one of servers by its templates or by what its VDUs boot from, be it a storage.
func TestSupports(t *testing.T) {
	t.Parallel()
	image := []vnfm.SWImage{{Name: "cirros"}}
	files := func(names ...string) *vnfm.Package {
		var p vnfm.Package
		for _, name := range names {
			p.Files = append(p.Files, vnfm.PackageFile{Path: name})
		}
		return &p
	}
	flavour := func(v vnfm.VDU) *vnfm.Flavour {
		return &vnfm.Flavour{ID: "simple", VDUs: []vnfm.VDU{v}, Storages: []vnfm.Storage{{ID: "system", SWImages: image}, {ID: "data"}}}
	}
	manifests := files()
	manifests.KubernetesFiles = []string{"Files/kubernetes/a.yaml"}
	for name, tt := range map[string]struct {
		p    *vnfm.Package
		v    vnfm.VDU
		want bool
	}{
		"image of the VDU":         {files(), vnfm.VDU{SWImages: image}, true},
		"image of a storage":       {files(), vnfm.VDU{StorageIDs: []string{"data", "system"}}, true},
		"storage without image":    {files(), vnfm.VDU{StorageIDs: []string{"data"}, CPUs: 1}, false},
		"templates":                {files("BaseHOT/simple/top.yaml"), vnfm.VDU{}, true},
		"templates of another one": {files("BaseHOT/other/top.yaml"), vnfm.VDU{}, false},
		"a template beside":        {files("BaseHOT/top.yaml"), vnfm.VDU{}, true},
		"manifests and images":     {manifests, vnfm.VDU{StorageIDs: []string{"system"}}, false},
		"containers with an image": {files(), vnfm.VDU{SWImages: image, Workload: &vnfm.Workload{}}, false},
		"nothing that decides it":  {files(), vnfm.VDU{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, (&Driver{}).Supports(tt.p, flavour(tt.v)))
		})
	}
}
