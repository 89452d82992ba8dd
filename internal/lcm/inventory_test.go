package lcm

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// updates is a store that counts them.
type updates struct {
	store.Store
	n int
}

func (s *updates) Update(context.Context, *store.Record) error {
	s.n++
	return nil
}

// TestSaveInventory: what is known of objects that the record names goes with its next write, anything else is written at once.
func TestSaveInventory(t *testing.T) {
	t.Parallel()
	s := &updates{}
	op := &operation{store: s, instance: &records.Entry[vnfm.Instance]{}}
	named := []vnfm.InventoryItem{{Key: "a", Name: "a"}, {Key: "b", Name: "b"}}
	exist := []vnfm.InventoryItem{{Key: "a", Name: "a", UID: "1"}}
	stack := func(uid string) []vnfm.InventoryItem {
		return []vnfm.InventoryItem{{Type: vnfm.InventoryStack, Name: "s", UID: uid}}
	}
	for _, step := range []struct {
		what  string
		items []vnfm.InventoryItem
		want  int
	}{
		{"names", named, 1}, {"that one exists", exist, 1}, {"another name", named, 2}, {"a stack", stack(""), 3}, {"that it exists", stack("2"), 4},
		{"an object that was posted", []vnfm.InventoryItem{{Key: "a", Name: "a", Posted: "sha256:1"}}, 5},
	} {
		require.NoError(t, op.SaveInventory(t.Context(), step.items), step.what)
		assert.Equal(t, step.want, s.n, step.what)
		assert.Equal(t, step.items, op.instance.Value.Inventory, step.what)
	}
	// Before drivers are called it is written.
	require.NoError(t, op.saveKnown(t.Context()))
	assert.Equal(t, 5, s.n)
	require.NoError(t, op.SaveInventory(t.Context(), nil))
	for range 2 {
		require.NoError(t, op.saveKnown(t.Context()))
		assert.Equal(t, 6, s.n)
	}
}
