package heat

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/hot"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

func TestChooseNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		have    []int
		count   int
		leaving []int
		want    []int
	}{
		"new":                      {nil, 3, nil, []int{0, 1, 2}},
		"none":                     {nil, 0, nil, nil},
		"as it is":                 {[]int{2, 0}, 2, nil, []int{0, 2}},
		"more":                     {[]int{0, 1}, 3, nil, []int{0, 1, 2}},
		"a gap is filled":          {[]int{0, 2}, 4, nil, []int{0, 1, 2, 3}},
		"the newest goes":          {[]int{1, 2, 0}, 2, nil, []int{1, 2}},
		"the named goes":           {[]int{0, 1, 2}, 2, []int{0}, []int{1, 2}},
		"the named and the newest": {[]int{0, 1, 2, 3}, 2, []int{1}, []int{0, 2}},
		"nobody leaves":            {[]int{0, 1}, 2, []int{0}, []int{0, 1}},
		"all":                      {[]int{0, 1}, 0, nil, nil},
	} {
		got := chooseNumbers(c.have, c.count, c.leaving)
		assert.True(t, slices.Equal(got, c.want), "%s: %v", name, got)
	}
}

func TestChooseFlavor(t *testing.T) {
	all := []openstack.Flavor{
		{ID: "5", Name: "large", VCPUs: 4, RAM: 8192, Disk: 80},
		{ID: "4", Name: "pinned", VCPUs: 2, RAM: 4096, Disk: 40, ExtraSpecs: map[string]string{"hw:cpu_policy": "dedicated"}},
		{ID: "3", Name: "medium", VCPUs: 2, RAM: 4096, Disk: 40},
		{ID: "2", Name: "small", VCPUs: 1, RAM: 2048, Disk: 20},
	}
	for name, c := range map[string]struct {
		demand hot.Demand
		before string
		want   string
	}{
		"by name":                    {hot.Demand{FlavorName: "large", CPUs: 1}, "", "5"},
		"by id":                      {hot.Demand{FlavorName: "3"}, "", "3"},
		"a name that is not there":   {hot.Demand{FlavorName: "huge"}, "", ""},
		"the smallest":               {hot.Demand{CPUs: 1, MemoryBytes: 1 << 30}, "", "2"},
		"by CPUs, nothing special":   {hot.Demand{CPUs: 2}, "", "3"},
		"by memory":                  {hot.Demand{CPUs: 1, MemoryBytes: 4<<30 + 1}, "", "5"},
		"by disk":                    {hot.Demand{CPUs: 1, StorageBytes: 21 << 30}, "", "3"},
		"something special":          {hot.Demand{CPUs: 1, ExtraSpecs: map[string]string{"hw:cpu_policy": "dedicated"}}, "", "4"},
		"the one before, if it fits": {hot.Demand{CPUs: 1}, "5", "5"},
		"not if it does not":         {hot.Demand{CPUs: 2}, "2", "3"},
		"none":                       {hot.Demand{CPUs: 8}, "", ""},
	} {
		assert.Equal(t, c.want, chooseFlavor(all, &c.demand, c.before), "%s: flavor", name)
	}
}

// TestInTurn: VNFCs that are there are changed one after the other; what is only more or
// fewer is not, and a stack that was changed so is left as it is.
func TestInTurn(t *testing.T) {
	t.Parallel()
	const key = "OS::Nova::Server FW"
	source := &hot.Source{VDUs: map[string]hot.VDU{"FW": {Resource: "FW", Form: hot.Copied}}}
	stack := func(inTurn bool, copies ...string) *live {
		resources := map[string]any{}
		for _, name := range copies {
			resources[name] = map[string]any{}
		}
		return &live{
			stack: &openstack.Stack{}, content: &openstack.StackContent{Template: map[string]any{"resources": resources}},
			note: note{Objects: map[string]string{key: "a"}, InTurn: inTurn},
		}
	}
	for name, test := range map[string]struct {
		live    *live
		digest  string
		numbers []int
		want    bool
	}{
		"a creation":                     {nil, "a", []int{0, 1}, false},
		"a scale":                        {stack(false, "FW-0"), "a", []int{0, 1}, false},
		"a change":                       {stack(false, "FW-0", "FW-1"), "b", []int{0, 1}, true},
		"nothing after a change":         {stack(true, "FW-0", "FW-1"), "a", []int{0, 1}, true},
		"a scale after a change":         {stack(true, "FW-0", "FW-1"), "a", []int{0}, false},
		"a scale and a change":           {stack(true, "FW-0", "FW-1"), "b", []int{0}, true},
		"nothing after an ordinary time": {stack(false, "FW-0", "FW-1"), "a", []int{0, 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &session{source: source, objects: map[string]string{key: test.digest}}
			assert.Equal(t, test.want, s.inTurn(test.live, map[string][]int{"FW": test.numbers}))
		})
	}
}
