package lcm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/hooks"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// keeper is a management driver that keeps the nodes of two VDUs.
type keeper struct{ vnfm.ManagementDriver }

func (keeper) Params() []string { return nil }

func (keeper) NodeVDUs(*vnfm.HookCheck) []string { return []string{"master", "worker"} }

func (keeper) Rounds(*vnfm.HookCheck, []vnfm.Replacement) [][]string { return nil }

// clustered is an instance of three masters, three workers and a server that is no node; hooks are those of the keeper.
func clustered(t *testing.T, named ...string) planInput {
	t.Helper()
	three, one := 3, 1
	flavour := func(id string) vnfm.Flavour {
		f := vnfm.Flavour{
			ID: id,
			VDUs: []vnfm.VDU{
				{ID: "master", MaxInstances: 9, InitialDelta: &three}, {ID: "worker", MaxInstances: 9, InitialDelta: &three}, {ID: "other", MaxInstances: 9, InitialDelta: &one},
			},
			Levels:         []vnfm.InstantiationLevel{{ID: "small", ScaleInfo: map[string]int{}}, {ID: "large", ScaleInfo: map[string]int{"worker": 2}}},
			DefaultLevelID: "small",
			Operations:     map[string]vnfm.Implementation{"instantiate_end": {Artifact: "keeper"}, "terminate_end": {Artifact: "keeper"}},
		}
		for _, hook := range named {
			f.Operations[hook] = vnfm.Implementation{Artifact: "keeper"}
		}
		for _, vdu := range []string{"master", "worker", "other"} {
			f.Aspects = append(f.Aspects, vnfm.ScalingAspect{ID: vdu, MaxLevel: 3, StepDeltas: []string{"one"}, Deltas: map[string]map[string]int{"one": {vdu: 1}}})
			for i := range f.Levels {
				f.Levels[i].ScaleInfo[vdu] += 0
			}
		}
		return f
	}
	pkg := &vnfm.Package{ID: "pkg-1", Descriptor: &vnfm.Descriptor{ID: "vnfd-1", Flavours: []vnfm.Flavour{flavour("simple"), flavour("complex")}, DefaultFlavourID: "simple"}}
	spec := vnfm.InstanceSpec{Name: "core", VIMID: "vim-1", PackageID: pkg.ID, OperationalState: vnfm.Started, OnFailure: vnfm.OnFailureResume}
	r, problems := resolveIn(pkg, spec)
	require.False(t, problems.HasErrors(), problems)
	record := vnfm.Instance{ID: "i-1", VIMID: spec.VIMID, Status: vnfm.StatusInstantiated}
	describe(&record, spec, r)
	return planInput{record: record, spec: spec, wanted: r, observed: true}
}

// serverChange is a change of a request, with the operation that it leads to and what that does to VNFCs.
type serverChange struct {
	name string
	make func(*planInput)
	kind vnfm.OperationType
	does string
}

func serverChanges() []serverChange {
	const all = "replaces VNFCs of VDU master and replaces VNFCs of VDU other and replaces VNFCs of VDU worker"
	other := func(in *planInput) {
		pkg := *in.wanted.pkg
		pkg.ID, in.spec.PackageID = "pkg-2", "pkg-2"
		in.wanted = &resolution{pkg: &pkg}
	}
	return []serverChange{
		{"scale one aspect", func(in *planInput) { in.spec.ScaleLevels = map[string]int{"worker": 1} }, vnfm.OpScale, "adds VNFCs of VDU worker"},
		{
			"two aspects", func(in *planInput) { in.spec.ScaleLevels = map[string]int{"master": 2, "worker": 1} }, vnfm.OpScaleToLevel,
			"adds VNFCs of VDU master and adds VNFCs of VDU worker",
		},
		{"level", func(in *planInput) { in.spec.LevelID = "large" }, vnfm.OpScaleToLevel, "adds VNFCs of VDU worker"},
		{"flavour", func(in *planInput) { in.spec.FlavourID = "complex" }, vnfm.OpChangeFlavour, all},
		{"package", other, vnfm.OpChangePackage, all},
		{"parameters", func(in *planInput) { in.spec.AdditionalParams = map[string]any{"image": "other"} }, vnfm.OpChangePackage, all},
		{"heal", func(in *planInput) { in.spec.Heal = &vnfm.HealSpec{Trigger: "1", VNFCIDs: []string{"worker-1"}} }, vnfm.OpHeal, "replaces VNFCs of VDU worker"},
		{"repair", func(in *planInput) { in.drift = []string{"a server no longer exists"} }, vnfm.OpHeal, all},
		{"connectivity", func(in *planInput) {
			in.spec.Links.External = map[string]vnfm.ExtVirtualLink{"net": {ResourceID: "n1"}}
		}, vnfm.OpChangeExtConn, all},
	}
}

// served lists which operations call a driver at which ends.
func served(drivers hooks.Drivers, plan updatePlan) map[vnfm.OperationType]string {
	out := map[vnfm.OperationType]string{}
	for _, o := range plan.operations {
		h := hooks.Operation{Kind: o.Type, Package: o.to.pkg, Flavour: o.to.flavour, Request: o.spec, Changes: o.Changes}
		for _, end := range []bool{false, true} {
			for _, b := range drivers.At(&h, end) {
				out[o.Type] += b.Hook.Name + " "
			}
		}
	}
	return out
}

// TestHooksFollowVNFCs plans each change alone and each pair at once, for VNFDs that name the driver in different ways: one for scale_*
// or heal_* serves every operation that changes its nodes, at both ends; one that cannot is an error.
func TestHooksFollowVNFCs(t *testing.T) {
	drivers := hooks.Drivers{"keeper": keeper{}}
	all := serverChanges()
	for _, named := range [][]string{{"scale_start", "scale_end"}, {"heal_start", "heal_end"}, {"scale_start", "scale_end", "heal_start", "heal_end"}} {
		for i, a := range all {
			for j, b := range all[i:] {
				in := clustered(t, named...)
				a.make(&in)
				b.make(&in)
				plan := planUpdate(in.resolved(t))
				name := strings.Join(named, ",") + ": " + a.name + " and " + b.name
				require.NotEmpty(t, plan.operations, name)
				got := served(drivers, plan)
				for _, o := range plan.operations {
					want := hooks.Name(o.Type, false) + " " + hooks.Name(o.Type, true) + " "
					if n := strings.Count(got[o.Type], want); n == 0 || got[o.Type] != strings.Repeat(want, n) {
						t.Errorf("%s: %s calls the driver at %q, want %q", name, o.Type, got[o.Type], want)
					}
				}
				require.Empty(t, checkServed(drivers, plan.operations), name)
				if j == 0 {
					require.Len(t, plan.operations, 1, name)
					require.Equal(t, a.kind, plan.operations[0].Type, name)
					require.Equal(t, a.does, plan.operations[0].Changes.String(), name)
				}
			}
		}
	}
}

// TestHooksThatServeNothing plans changes of instances whose driver is named for other hooks.
func TestHooksThatServeNothing(t *testing.T) {
	drivers := hooks.Drivers{"keeper": keeper{}}
	for _, tt := range []struct {
		named     []string
		make      func(*planInput)
		attribute string
	}{
		{nil, serverChanges()[0].make, ""}, // for the creation alone: it scales as ever
		{[]string{"scale_to_level_end"}, serverChanges()[2].make, ""},
		{[]string{"scale_to_level_end"}, serverChanges()[0].make, "scale_levels"},
		{[]string{"scale_start"}, serverChanges()[0].make, "scale_levels"}, // new servers would not join
		{[]string{"change_flavour_end"}, serverChanges()[2].make, "instantiation_level_id"},
		{[]string{"change_flavour_end"}, serverChanges()[3].make, ""},
		{[]string{"change_flavour_end"}, serverChanges()[6].make, "heal"},
		{[]string{"operate_end"}, serverChanges()[4].make, "package_id"},
		// A VDU without nodes.
		{[]string{"operate_end"}, func(in *planInput) { in.spec.ScaleLevels = map[string]int{"other": 1} }, ""},
		{[]string{"operate_end"}, func(in *planInput) { in.spec.OperationalState = vnfm.Stopped }, ""},
	} {
		in := clustered(t, tt.named...)
		tt.make(&in)
		problems := checkServed(drivers, planUpdate(in.resolved(t)).operations)
		got := ""
		for _, p := range problems {
			got += p.Attribute
			require.Contains(t, p.Detail, "name the driver for scale_start and scale_end")
			require.Contains(t, p.Summary, tt.named[0])
		}
		require.Equal(t, tt.attribute, got, tt.named)
	}
}

// Each change that the hooks of a driver do not serve is an error of its argument; a repair is found when it runs.
func TestChangesThatNoHookServes(t *testing.T) {
	want := map[string]string{
		"scale one aspect": "scale_levels", "two aspects": "scale_levels", "level": "instantiation_level_id", "flavour": "flavour_id", "package": "package_id",
		"parameters": vnfm.AttributeParams, "heal": "heal", "connectivity": "ext_virtual_links", "repair": "",
	}
	for _, change := range serverChanges() {
		in := clustered(t, "operate_end")
		change.make(&in)
		got := ""
		for _, p := range checkServed(hooks.Drivers{"keeper": keeper{}}, planUpdate(in.resolved(t)).operations) {
			got += p.Attribute
		}
		require.Equal(t, want[change.name], got, change.name)
	}
}
