package base

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// WithUnobserved are objects and, behind connections that could not be refreshed, those that
// were known before.
func WithUnobserved(ctx context.Context, objects, prior types.Map, unseen []string) types.Map {
	return MergeKept(ctx, objects, prior, func(key string) bool {
		connection, _ := vnfm.CutConnection(key)
		return slices.Contains(unseen, connection)
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
