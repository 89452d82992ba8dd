package hot

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUses: the types of a BaseHOT with nested templates, groups and conditions.
func TestUses(t *testing.T) {
	t.Parallel()
	const text = `-- simple/top.yaml --
heat_template_version: wallaby
conditions: { never: { equals: [ a, b ] } }
resources:
  VDU1: { type: VDU1.yaml, properties: {} }
  VDU2: { type: OS::Heat::ResourceGroup, properties: { count: 1, resource_def: { type: OS::Nova::Server } } }
  size: { type: OS::Nova::Flavor, condition: never, properties: { ram: 1, vcpus: 1 } }
-- simple/nested/VDU1.yaml --
heat_template_version: wallaby
resources:
  VDU1: { type: OS::Nova::Server }
  kind: { type: OS::Cinder::VolumeType, properties: { name: a } }
`
	var got []string
	for _, u := range mustLoad(t, files(text), router()).Uses() {
		got = append(got, fmt.Sprintf("%s:%d %s %s %v", u.Place.File, u.Place.Line, u.Resource, u.Type, u.Conditional))
	}
	require.Equal(t, []string{
		"BaseHOT/simple/top.yaml:5 VDU2 OS::Heat::ResourceGroup false",
		"BaseHOT/simple/top.yaml:5 VDU2 OS::Nova::Server false",
		"BaseHOT/simple/top.yaml:6 size OS::Nova::Flavor true",
		"BaseHOT/simple/nested/VDU1.yaml:3 VDU1 OS::Nova::Server false",
		"BaseHOT/simple/nested/VDU1.yaml:4 kind OS::Cinder::VolumeType false",
	}, got)
}
