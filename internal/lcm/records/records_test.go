package records

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Instances that were stored before an item of an inventory had a type are still read.
func TestInventoryOfAnEarlierForm(t *testing.T) {
	data := []byte(`{"id": "one", "inventory": [
		{"key": "Stack a", "group": "orchestration", "version": "v1", "kind": "Stack", "name": "vnf-a", "uid": "1"},
		{"key": "keystone/v3/ApplicationCredential edge", "group": "keystone", "version": "v3", "kind": "ApplicationCredential", "namespace": "user", "name": "edge-1", "uid": "2"},
		{"key": "v1/ConfigMap a", "version": "v1", "kind": "ConfigMap", "namespace": "core", "name": "a", "connection": "edge", "hook": true},
		{"key": "v1/ConfigMap b", "version": "v1", "kind": "ConfigMap", "namespace": "core", "name": "b", "connection": "add-on cni"}
	]}`)
	want := []vnfm.InventoryItem{
		{Type: vnfm.InventoryStack, Key: "Stack a", Name: "vnf-a", UID: "1"},
		{Type: vnfm.InventoryCredential, Key: "keystone/v3/ApplicationCredential edge", Name: "edge-1", UserID: "user", UID: "2"},
		{Key: "v1/ConfigMap a", Version: "v1", Kind: "ConfigMap", Namespace: "core", Name: "a", Connection: "edge", Hook: true},
		{Key: "v1/ConfigMap b", Version: "v1", Kind: "ConfigMap", Namespace: "core", Name: "b", Addon: "cni"},
	}
	for _, form := range []string{"earlier", "present"} {
		en, err := Decode[vnfm.Instance](store.Record{Kind: store.KindInstance, ID: "one", Data: data})
		require.NoError(t, err)
		if !slices.Equal(en.Value.Inventory, want) {
			t.Errorf("the %s form is read as %+v, want %+v", form, en.Value.Inventory, want)
		}
		data, err = json.Marshal(en.Value)
		require.NoError(t, err)
	}
}
