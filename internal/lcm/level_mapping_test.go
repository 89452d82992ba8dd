package lcm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestMapLevels follows the policies of a VNFD whose aspects and levels have new names.
func TestMapLevels(t *testing.T) {
	i := &vnfm.Instance{VNFDID: "old", FlavourID: "simple", LevelID: "small", ScaleLevels: map[string]int{"web": 2, "db": 1}}
	policy := vnfm.PackageChange{
		SourceDescriptorIDs: []string{"older", "old"}, DestinationDescriptorID: "new",
		Mappings: []vnfm.ComponentMapping{
			{ComponentType: "scaling_aspect", SourceID: "web", DestinationID: "front"},
			{ComponentType: "vdu", SourceID: "db", DestinationID: "database"},
			{ComponentType: "instantiation_level", SourceID: "small", DestinationID: "s"},
		},
	}
	other := policy
	other.SourceDescriptorIDs = []string{"older"}
	elsewhere := policy
	elsewhere.SourceFlavourIDs = []string{"rich"}
	for name, tt := range map[string]struct {
		policies []vnfm.PackageChange
		level    string
		levels   map[string]int
	}{
		"mapped":         {[]vnfm.PackageChange{other, policy}, "s", map[string]int{"front": 2, "db": 1}},
		"other VNFD":     {[]vnfm.PackageChange{other}, "small", i.ScaleLevels},
		"other flavour":  {[]vnfm.PackageChange{elsewhere}, "small", i.ScaleLevels},
		"without policy": {nil, "small", i.ScaleLevels},
	} {
		level, levels := mapLevels(i, &vnfm.Descriptor{ID: "new", PackageChanges: tt.policies})
		require.Equal(t, tt.levels, levels, "%s: level", name)
		require.Equal(t, tt.level, level, "%s: level", name)
	}
}
