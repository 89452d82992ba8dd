package hot

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestZones: each VNFC of a copied VDU has a zone of its own, which what the request fixes goes over.
func TestZones(t *testing.T) {
	t.Parallel()
	vdus := func(values map[string]any) map[string]any { return map[string]any{"VDU": values} }
	zone := func(name string) map[string]any { return map[string]any{"locationConstraints": name} }
	first, third := Place{"VDU1", 0}, Place{"VDU1", 2}
	for name, c := range map[string]struct {
		nfv, secret map[string]any
		want        map[Place]Zone
	}{
		"chosen":           {nil, nil, map[Place]Zone{first: {Name: "zone of VDU1-0"}, third: {Name: "zone of VDU1-2"}}},
		"fixed for a VDU":  {vdus(map[string]any{"VDU1": zone("west")}), nil, map[Place]Zone{first: {Name: "west", Fixed: true}, third: {Name: "west", Fixed: true}}},
		"fixed for a VNFC": {vdus(map[string]any{"VDU1-2": zone("west")}), nil, map[Place]Zone{first: {Name: "zone of VDU1-0"}, third: {Name: "west", Fixed: true}}},
		"fixed in secret": {
			vdus(map[string]any{"VDU1-0": zone("west")}), vdus(map[string]any{"VDU1-0": zone("west")}),
			map[Place]Zone{first: {Name: "west", Fixed: true, Secret: true}, third: {Name: "zone of VDU1-2"}},
		},
		"something else is given": {vdus(map[string]any{"VDU1": map[string]any{"computeFlavourId": "mine"}}), nil, map[Place]Zone{first: {Name: "zone of VDU1-0"}, third: {Name: "zone of VDU1-2"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, r := mustLoad(t, files(copied), router()), request()
			r.Zone = func(p Place) string { return "zone of " + p.String() }
			r.NFV, r.Secrets = c.nfv, map[string]any{nfv: c.secret}
			require.True(t, s.AsksZone(r))
			stack := stackOf(t, s, r)
			assert.Equal(t, c.want, stack.Zones)
			for p, zone := range stack.Zones {
				sent, _ := lookUp(stack.Parameters[nfv], []any{"VDU", p.String(), "locationConstraints"})
				require.Equal(t, zone.Name, sent)
			}
		})
	}
}

// TestZoneOfGroup: the members of a group are alike, and so is their zone.
func TestZoneOfGroup(t *testing.T) {
	t.Parallel()
	const group = `-- simple/top.yaml --
heat_template_version: 2021-04-16
parameters:
  nfv: { type: json }
resources:
  VDU1:
    type: OS::Heat::ResourceGroup
    properties:
      count: { get_param: [nfv, VDU, VDU1, desired_capacity] }
      resource_def: { type: OS::Nova::Server, properties: { flavor: a, availability_zone: { get_param: [nfv, VDU, VDU1, zone] } } }
  VDU2: { type: OS::Nova::Server, properties: { flavor: a, availability_zone: nova } }
`
	s := mustLoad(t, files(group), router())
	r := request()
	r.Links = nil
	r.VNFCs = map[string][]int{"VDU2": {0}}
	require.Equal(t, map[Place]Zone{{"VDU1", AllVNFCs}: {Name: "east"}}, stackOf(t, s, r).Zones)
	r.Flavour = &vnfm.Flavour{ID: "simple", VDUs: r.Flavour.VDUs[1:]}
	require.False(t, s.AsksZone(r), "VDU2 has its zone in the template")
}

func TestPlaceAsText(t *testing.T) {
	t.Parallel()
	places := map[Place]string{{"VDU1", 0}: "a", {"VDU1", AllVNFCs}: "b", {"a/b", 3}: ""}
	text, err := json.Marshal(places)
	require.NoError(t, err)
	require.JSONEq(t, `{"VDU1/0": "a", "VDU1/-1": "b", "a/b/3": ""}`, string(text))
	var read map[Place]string
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, places, read)
	for _, bad := range []string{`{"VDU1": ""}`, `{"VDU1/x": ""}`} {
		require.Error(t, json.Unmarshal([]byte(bad), &read), bad)
	}
	require.Equal(t, []string{"VDU1-0", "VDU1"}, []string{Place{"VDU1", 0}.String(), Place{"VDU1", AllVNFCs}.String()})
}
