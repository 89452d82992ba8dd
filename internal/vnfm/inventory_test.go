package vnfm

import (
	"encoding/json"
	"testing"
)

// Records that were stored before an item had a type are still read.
func TestInventoryItemOfAnEarlierRecord(t *testing.T) {
	for text, want := range map[string]InventoryItem{
		`{"key":"Stack a","group":"orchestration","version":"v1","kind":"Stack","name":"vnf-a","uid":"1"}`: {
			Type: InventoryStack, Key: "Stack a", Name: "vnf-a", UID: "1",
		},
		`{"key":"keystone/v3/ApplicationCredential edge","group":"keystone","version":"v3","kind":"ApplicationCredential","namespace":"user","name":"edge-1","uid":"2"}`: {
			Type: InventoryCredential, Key: "keystone/v3/ApplicationCredential edge", Name: "edge-1", UserID: "user", UID: "2",
		},
		`{"key":"v1/ConfigMap a","version":"v1","kind":"ConfigMap","namespace":"core","name":"a","connection":"edge","hook":true}`: {
			Key: "v1/ConfigMap a", Version: "v1", Kind: "ConfigMap", Namespace: "core", Name: "a", Connection: "edge", Hook: true,
		},
	} {
		var got InventoryItem
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s is read as %+v, want %+v", text, got, want)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var twice InventoryItem
		if err := json.Unmarshal(again, &twice); err != nil || twice != want {
			t.Errorf("%s is read as %+v, %v, want %+v", again, twice, err, want)
		}
	}
}
