package base

import (
	"context"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// memory is a private state.
type memory map[string][]byte

func (m memory) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) { return m[key], nil }

func (m memory) SetKey(_ context.Context, key string, value []byte) diag.Diagnostics {
	m[key] = value
	return nil
}

// TestObjects_private: the private state gives back what it was given, and takes less than 30 bytes for an object of a large instance.
func TestObjects_private(t *testing.T) {
	t.Parallel()
	var diags diag.Diagnostics
	for name, objects := range map[string]Objects{
		"none": {}, "not known": nil, "some": {"v1/Service web": "sha256:0123456789abcdef", "v1/ConfigMap <a>": "drifted: data.é"},
	} {
		private, got := memory{}, InstanceModel{}
		(&InstanceModel{Objects: objects}).writeObjects(t.Context(), private, &diags)
		got.readObjects(t.Context(), private, &diags)
		assert.Equal(t, objects, got.Objects, name)
	}
	large := Objects{}
	for n := range 300 {
		large[fmt.Sprintf("apps/v1/Deployment core/function-%d", n)] = fmt.Sprintf("sha256:%016x", uint64(n)*0x9e3779b97f4a7c15)
	}
	private := memory{}
	(&InstanceModel{Objects: large}).writeObjects(t.Context(), private, &diags)
	assert.Less(t, len(private[objectsKey])/len(large), 30, "bytes for each object, which Terraform encodes twice more")
	broken := InstanceModel{Objects: Objects{"v1/Pod a": "sha256:1"}}
	broken.readObjects(t.Context(), memory{objectsKey: []byte(`"AAAA"`)}, &diags)
	assert.Nil(t, broken.Objects, "what cannot be read is not known")
	require.Empty(t, diags)
}

func TestObjects_same(t *testing.T) {
	t.Parallel()
	known := Objects{"a": "1", "b": "2"}
	assert.True(t, known.same(Objects{"a": "1", "b": "2"}))
	for name, other := range map[string]Objects{
		"nothing is known": nil, "another digest": {"a": "1", "b": "3"}, "one less": {"a": "1"}, "one more": {"a": "1", "b": "2", "c": "3"},
	} {
		assert.False(t, known.same(other), name)
	}
	assert.False(t, Objects{"a": ""}.same(Objects{"a": ""}), "what is not known yet may be anything")
	assert.Equal(t, map[string]string{"b": "2", "c": "", "d": ""}, Objects{"a": "1", "b": "3", "c": "4", "d": ""}.changedFrom(known))
}

// TestDrift: an observation says what has drifted; where it could not look, what was known before stays.
func TestDrift(t *testing.T) {
	t.Parallel()
	seen := &vnfm.Observation{
		Objects: map[string]string{"v1/ConfigMap a": "drifted: data.x, data.y", "v1/ConfigMap b": "sha256:1"},
		Gone:    []string{"v1/Service web"}, Unseen: []string{"edge"}, Unread: []string{"v1/Secret s"},
	}
	before := map[string]string{"edge: v1/ConfigMap c": "deleted", "v1/Secret s": "data.z", "v1/ConfigMap b": "data.x"}
	m := InstanceModel{Drift: tfutil.StringMap(before), Objects: Objects{"edge: v1/ConfigMap c": "sha256:2", "v1/Secret s": "drifted: data.z", "v1/Pod gone": "sha256:3"}}
	m.setDrift(seen, true)
	assert.Equal(t, map[string]string{
		"v1/ConfigMap a": "data.x, data.y", "v1/Service web": "deleted", "edge: v1/ConfigMap c": "deleted", "v1/Secret s": "data.z",
	}, tfutil.Texts(m.Drift))
	assert.Equal(t, Objects{
		"v1/ConfigMap a": "drifted: data.x, data.y", "v1/ConfigMap b": "sha256:1", "edge: v1/ConfigMap c": "sha256:2", "v1/Secret s": "drifted: data.z",
	}, m.Objects.observed(seen))
	m.setDrift(seen, false)
	assert.True(t, m.Drift.IsNull(), "an instance that is not complete has drift %v", m.Drift)
	m.setDrift(&vnfm.Observation{Objects: map[string]string{"v1/ConfigMap a": "sha256:1"}}, true)
	assert.True(t, m.Drift.IsNull(), "%v", m.Drift)
}

// TestDrift_many: an attribute names 40 objects, and counts the others unless there is but one.
func TestDrift_many(t *testing.T) {
	t.Parallel()
	of := func(n int) (*vnfm.Observation, Objects) {
		seen, objects := &vnfm.Observation{}, Objects{}
		for i := range n {
			key := fmt.Sprintf("v1/ConfigMap c%03d", i)
			seen.Gone, objects[key] = append(seen.Gone, key), "sha256:1"
		}
		return seen, objects
	}
	for n, rest := range map[int]string{40: "", 41: "", 42: "2 objects", 300: "260 objects"} {
		seen, objects := of(n)
		m := InstanceModel{Drift: types.MapNull(types.StringType)}
		m.setDrift(seen, true)
		drift := tfutil.Texts(m.Drift)
		assert.Equal(t, rest, drift[moreObjects], n)
		assert.Len(t, drift, min(n, 41))
		assert.Len(t, objects.names().Elements(), min(n, 41))
	}
}
