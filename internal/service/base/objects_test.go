package base

import (
	"context"
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
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

// TestObjects_private: the private state returns what was written to it.
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
	for _, text := range []string{`"AAAA"`, `{"v1/Pod a": "sha256:1", "v1/Pod b": 2}`} {
		broken := InstanceModel{Objects: Objects{"v1/Pod a": "sha256:1"}}
		broken.readObjects(t.Context(), memory{objectsKey: []byte(text)}, &diags)
		assert.Nil(t, broken.Objects, "what cannot be read is not known")
	}
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
	assert.Equal(t, []string{"c", "e"}, Objects{"a": "1", "d": ""}.leftFrom(Objects{"a": "1", "c": "2", "e": deleted}))
	assert.Equal(t, map[string]string{"b": "2", "c": "", "d": ""}, Objects{"a": "1", "b": "3", "c": "4", "d": ""}.changedFrom(known))
	hpa := Objects{"autoscaling/v2/HorizontalPodAutoscaler a/web": "2"}
	former := Objects{"autoscaling/v1/HorizontalPodAutoscaler a/web": "1", "autoscaling/v1/HorizontalPodAutoscaler b/web": "1"}
	assert.Equal(t, map[string]string{"autoscaling/v2/HorizontalPodAutoscaler a/web": "1"}, hpa.changedFrom(former), "another version of the same object")
	assert.Equal(t, []string{"autoscaling/v1/HorizontalPodAutoscaler b/web"}, hpa.leftFrom(former), "another version of the same object")
}

// TestDrift: an observation says what has drifted; where it could not look, what was known before stays.
func TestDrift(t *testing.T) {
	t.Parallel()
	before := Objects{"edge: v1/ConfigMap c": deleted, "edge: v1/Pod p": "sha256:2", "v1/Secret s": "drifted: data.z", "v1/Pod former": "sha256:3", "v1/ConfigMap b": "drifted: data.x"}
	now := before.observed(&vnfm.Observation{
		Objects: map[string]string{"v1/ConfigMap a": "drifted: data.x, data.y", "v1/ConfigMap b": "sha256:1"},
		Gone:    []string{"v1/Service web"}, Unseen: []string{"edge"}, Unread: []string{"v1/Secret s"},
	})
	assert.Equal(t, []string{
		"edge: v1/ConfigMap c: deleted", "v1/ConfigMap a: data.x, data.y", "v1/Secret s: data.z", "v1/Service web: deleted",
	}, tfutil.Strings(now.drift()))
	assert.Equal(t, Objects{
		"v1/ConfigMap a": "drifted: data.x, data.y", "v1/ConfigMap b": "sha256:1", "edge: v1/Pod p": "sha256:2", "v1/Secret s": "drifted: data.z",
	}, now.Present())
	assert.Equal(t, map[string]string{"v1/Service web": ""}, Objects{"v1/Service web": "sha256:4", "edge: v1/Pod p": "sha256:2"}.changedFrom(now))
	assert.True(t, Objects{"v1/ConfigMap a": "sha256:1"}.drift().IsNull())
	assert.True(t, Objects(nil).drift().IsNull())
}

// TestDrift_many: an attribute names 40 objects, and counts the others unless there is but one.
func TestDrift_many(t *testing.T) {
	t.Parallel()
	for n, last := range map[int]string{40: "c039: deleted", 41: "c040: deleted", 42: "and 2 more", 300: "and 260 more"} {
		objects := Objects{}
		for i := range n {
			objects[fmt.Sprintf("c%03d", i)] = deleted
		}
		drift := tfutil.Strings(objects.drift())
		assert.Len(t, drift, min(n, 41))
		assert.Equal(t, last, drift[len(drift)-1], n)
	}
}
