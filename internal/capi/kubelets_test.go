package capi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOtherKubelet: the version that kubelet reports counts, without suffixes of vendors.
func TestOtherKubelet(t *testing.T) {
	t.Parallel()
	const other = `kubelet of node "n" reports v1.33.1, and Machine core/a-1 has v1.34.0`
	for name, c := range map[string]struct{ machine, kubelet, want string }{
		"same":                 {"v1.34.0", "v1.34.0", ""},
		"other":                {"v1.34.0", "v1.33.1", other},
		"no node yet":          {"v1.34.0", "", ""},
		"version of nobody":    {"", "v1.34.0", ""},
		"of a vendor":          {"v1.34.0", "v1.34.0-eks-5e0fdde", ""},
		"build":                {"v1.34.0", "v1.34.0+k3s1", ""},
		"machine with a build": {"v1.34.0+rke2r1", "v1.34.0", ""},
		"without v":            {"1.34.0", "v1.34.0", ""},
	} {
		m := machine("a-1", "a", c.machine)
		m.Object["status"] = map[string]any{"nodeRef": map[string]any{"name": "n"}, "nodeInfo": map[string]any{"kubeletVersion": c.kubelet}}
		assert.Equal(t, c.want, otherKubelet(m), name)
		assert.Len(t, otherKubelets(map[string]*unstructured.Unstructured{"a-1": m}), min(len(c.want), 1), name)
		m.Object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z" //nolint:forcetypeassert // see machine
		assert.Empty(t, otherKubelet(m), name)
	}
	assert.Equal(t, "a; b; c; and 2 more", listed([]string{"a", "b", "c", "d", "e"}))
}

// TestStaysAsItIs: a machine is only found to run another version for good when nothing is about to replace it.
func TestStaysAsItIs(t *testing.T) {
	t.Parallel()
	const kubelet = "* Node.status.nodeInfo.kubeletVersion v1.33.1, v1.34.0 required"
	for name, c := range map[string]struct {
		available, updating, upToDate, message string
		want                                   bool
	}{
		"up to date":                {"True", "False", "True", "", true},
		"kubelet alone is compared": {"True", "False", "False", kubelet, true},
		"is rolled out":             {"True", "False", "False", "* Version v1.33.1, v1.34.0 required\n" + kubelet, false},
		"is updated in place":       {"True", "True", "True", "", false},
		"is not available":          {"False", "False", "True", "", false},
		"no such condition":         {"True", "", "", "", false},
	} {
		m := machine("a-1", "a", "v1.34.0")
		var all []any
		for kind, status := range map[string]string{"Available": c.available, "Updating": c.updating, "UpToDate": c.upToDate} {
			if status != "" {
				all = append(all, conditions(kind, status, "Reason", c.message)...)
			}
		}
		m.Object["status"] = map[string]any{"conditions": all, "nodeInfo": map[string]any{"kubeletVersion": "v1.33.1"}}
		machines := map[string]*unstructured.Unstructured{"a-1": m}
		assert.Equal(t, c.want, staysAsItIs(m), name)
		assert.Len(t, finalKubelets(machines, false), map[bool]int{true: 1}[c.want], name)
		assert.Len(t, finalKubelets(machines, true), 1, name)
	}
}
