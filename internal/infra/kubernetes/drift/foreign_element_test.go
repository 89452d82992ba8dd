package drift

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
)

// owning returns managed fields for elements of spec.<list>. It maps the JSON of an element's key to the element's fields.
func owning(list string, elements map[string][]string) string {
	text := ""
	for _, key := range slices.Sorted(maps.Keys(elements)) {
		if text != "" {
			text += ","
		}
		text += `"k:` + key + `":{".":{}`
		for _, field := range elements[key] {
			text += `,"f:` + field + `":{}`
		}
		text += "}"
	}
	return `{"f:spec":{"f:` + list + `":{` + text + `}}}`
}

func TestFindForeign(t *testing.T) {
	const tcp80, tcp81, tcp90 = `{\"port\":80,\"protocol\":\"TCP\"}`, `{\"port\":81,\"protocol\":\"TCP\"}`, `{\"port\":90,\"protocol\":\"TCP\"}`
	named := func(name string) string { return `{\"name\":\"` + name + `\"}` }
	type elements = map[string][]string
	tests := map[string]struct {
		list, applied, live string
		own, foreign        elements
		want                []string
	}{
		"nothing was lost": {
			"ports", "[{name: http, port: 80}]", "[{name: http, port: 80, protocol: TCP}, {name: more, port: 90, protocol: TCP}]",
			elements{tcp80: {"name", "port"}}, elements{tcp90: {"name", "port"}}, nil,
		},
		"the key was changed": {
			"ports", "[{name: http, port: 80}, {name: https, port: 443}]", "[{name: http, port: 81, protocol: TCP}, {name: https, port: 443, protocol: TCP}]",
			elements{`{\"port\":443,\"protocol\":\"TCP\"}`: {"name", "port"}}, elements{tcp81: {"name", "port", "protocol"}}, []string{"spec.ports[port=81,protocol=TCP]"},
		},
		"a part of the key that the manifest leaves out was changed": {
			"ports", "[{name: http, port: 80}, {name: https, port: 443}]", "[{name: http, port: 80, protocol: UDP}, {name: https, port: 443, protocol: TCP}]",
			elements{`{\"port\":443,\"protocol\":\"TCP\"}`: {"name", "port"}}, elements{`{\"port\":80,\"protocol\":\"UDP\"}`: {"name", "port", "protocol"}},
			[]string{"spec.ports[port=80,protocol=UDP]"},
		},
		"others of another name stay": {
			"ports", "[{name: http, port: 80}]", "[{name: more, port: 90, protocol: TCP}, {name: http, port: 81, protocol: TCP}]",
			nil, elements{tcp81: {"name", "port", "protocol"}, tcp90: {"name", "port", "protocol"}}, []string{"spec.ports[port=81,protocol=TCP]"},
		},
		"one that was removed has no foreign element": {
			"ports", "[{name: http, port: 80}, {name: https, port: 443}]", "[{name: more, port: 90, protocol: TCP}, {name: https, port: 443, protocol: TCP}]",
			elements{`{\"port\":443,\"protocol\":\"TCP\"}`: {"name", "port"}}, elements{tcp90: {"name", "port", "protocol"}}, nil,
		},
		"the only one without a name": {
			"ports", "[{port: 80, targetPort: 8080}]", "[{port: 81, protocol: TCP, targetPort: 9090}]",
			nil, elements{tcp81: {"port", "protocol", "targetPort"}}, []string{"spec.ports[port=81,protocol=TCP]"},
		},
		"one of several without names stays": {
			"ports", "[{port: 80}]", "[{port: 81, protocol: TCP}, {port: 90, protocol: TCP}]",
			nil, elements{tcp81: {"port", "protocol"}, tcp90: {"port", "protocol"}}, nil,
		},
		"a container that was renamed": {
			"containers", "[{name: amf, image: amf}]", "[{name: renamed, image: amf, terminationMessagePath: /dev/log}]",
			nil, elements{named("renamed"): {"name", "image"}}, []string{"spec.containers[name=renamed]"},
		},
		"a container that was injected": {
			"containers", "[{name: amf, image: amf}]", "[{name: proxy, image: proxy}]",
			nil, elements{named("proxy"): {"name", "image"}}, nil,
		},
		"a mount that was moved": {
			"volumeMounts", "[{name: data, mountPath: /data}]", "[{name: data, mountPath: /elsewhere}, {name: token, mountPath: /token}]",
			nil, elements{`{\"mountPath\":\"/elsewhere\"}`: {"name", "mountPath"}, `{\"mountPath\":\"/token\"}`: {"name", "mountPath"}},
			[]string{"spec.volumeMounts[mountPath=/elsewhere]"},
		},
		"one that changed hands": {
			"containers", "[{name: amf, image: amf}]", "[{name: amf, image: other}]",
			nil, elements{named("amf"): {"name", "image"}}, nil,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			spec := func(list string) map[string]any {
				var items any
				require.NoError(t, yaml.Unmarshal([]byte(list), &items))
				return map[string]any{"spec": map[string]any{tt.list: items}}
			}
			entries := []metav1.ManagedFieldsEntry{entry("kubectl-edit", owning(tt.list, tt.foreign))}
			if tt.own != nil {
				entries = append(entries, entry(kube.FieldManager, owning(tt.list, tt.own)))
			}
			set, err := Owned(entries, kube.FieldManager)
			require.NoError(t, err)
			found, err := FindForeign(FindUnowned(spec(tt.applied), set), entries, spec(tt.live))
			require.NoError(t, err)
			var got []string
			for _, i := range found {
				got = append(got, i.Path.String())
				assert.Equal(t, "kubectl-edit", i.Manager, "%s is reported to be of", i.Path)
			}
			assert.Equal(t, tt.want, got, "foreign elements")
		})
	}
}

func TestTakeOver(t *testing.T) {
	const key81, key90 = `{\"port\":81,\"protocol\":\"TCP\"}`, `{\"port\":90,\"protocol\":\"TCP\"}`
	entries := []metav1.ManagedFieldsEntry{
		entry(kube.FieldManager, `{"f:spec":{"f:selector":{}}}`),
		entry("one", owning("ports", map[string][]string{key81: {"name", "port"}, key90: {"port"}})),
		entry("two", owning("ports", map[string][]string{key81: {"targetPort"}})),
	}
	path := FieldPath{{field: "spec"}, {field: "ports"}, {kind: stepKey, key: map[string]any{"port": int64(81), "protocol": "TCP"}}}
	moved, err := TakeOver(entries, []FieldPath{path})
	require.NoError(t, err)
	got := map[string]string{}
	for _, e := range moved {
		got[e.Manager] = e.FieldsV1.GetRawString()
	}
	want := map[string]string{
		kube.FieldManager: `{"f:spec":{"f:ports":{"k:` + key81 + `":{}},"f:selector":{}}}`,
		"one":             owning("ports", map[string][]string{key90: {"port"}}),
	}
	assert.Equal(t, want, got, "owners")
	if text := entries[1].FieldsV1.GetRawString(); text != owning("ports", map[string][]string{key81: {"name", "port"}, key90: {"port"}}) {
		t.Errorf("the entries were changed in place: %s", text)
	}
}
