package base

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Observed are the objects that an observation shows and, where it could not look, those that
// were known before.
func Observed(ctx context.Context, o *vnfm.Observation, prior types.Map) types.Map {
	return MergeKept(ctx, tfutil.StringMap(o.Objects), prior, func(key string) bool {
		connection, _ := vnfm.CutConnection(key)
		return slices.Contains(o.Unseen, connection) || slices.Contains(o.Unread, key)
	})
}

// MergeKept are the elements of a map, and those that only the prior one has and that are
// to be kept.
func MergeKept(ctx context.Context, m, prior types.Map, keep func(key string) bool) types.Map {
	all := m.Elements()
	for key, v := range prior.Elements() {
		if _, ok := all[key]; !ok && keep(key) {
			all[key] = v
		}
	}
	return types.MapValueMust(m.ElementType(ctx), all)
}
