package lcm

import (
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// mapLevels returns the level and the scale levels of an instance in the names of
// another VNFD, as its VnfPackageChange policies map them (SOL001 6.10.13): an
// aspect that has another name goes on at its level. Without a policy for the VNFD
// that the instance follows all names are the same.
func mapLevels(i *vnfm.Instance, to *vnfm.Descriptor) (levelID string, scaleLevels map[string]int) {
	at := slices.IndexFunc(to.PackageChanges, func(c vnfm.PackageChange) bool {
		return c.DestinationDescriptorID == to.ID && slices.Contains(c.SourceDescriptorIDs, i.VNFDID) &&
			(len(c.SourceFlavourIDs) == 0 || slices.Contains(c.SourceFlavourIDs, i.FlavourID))
	})
	if at < 0 {
		return i.LevelID, i.ScaleLevels
	}
	name := func(kind, id string) string {
		for _, m := range to.PackageChanges[at].Mappings {
			if m.ComponentType == kind && m.SourceID == id {
				return m.DestinationID
			}
		}
		return id
	}
	if len(i.ScaleLevels) > 0 {
		scaleLevels = make(map[string]int, len(i.ScaleLevels))
		for aspect, level := range i.ScaleLevels {
			scaleLevels[name("scaling_aspect", aspect)] = level
		}
	}
	return name("instantiation_level", i.LevelID), scaleLevels
}
