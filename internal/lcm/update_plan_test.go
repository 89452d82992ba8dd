package lcm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// planned is a package with two flavours, one aspect and two levels, and a request that its instance already follows.
func planned(t *testing.T) planInput {
	t.Helper()
	one := 1
	flavour := func(id string) vnfm.Flavour {
		return vnfm.Flavour{
			ID:             id,
			VDUs:           []vnfm.VDU{{ID: "VDU1", Name: "b", MaxInstances: 5, InitialDelta: &one}},
			Aspects:        []vnfm.ScalingAspect{{ID: "workers", MaxLevel: 3, StepDeltas: []string{"one"}, Deltas: map[string]map[string]int{"one": {"VDU1": 1}}}},
			Levels:         []vnfm.InstantiationLevel{{ID: "small", ScaleInfo: map[string]int{"workers": 0}}, {ID: "large", ScaleInfo: map[string]int{"workers": 2}}},
			DefaultLevelID: "small",
		}
	}
	pkg := &vnfm.Package{ID: "pkg-1", Descriptor: &vnfm.Descriptor{ID: "vnfd-1", Flavours: []vnfm.Flavour{flavour("simple"), flavour("complex")}, DefaultFlavourID: "simple"}}
	spec := vnfm.InstanceSpec{Name: "core", VIMID: "vim-1", PackageID: pkg.ID, Namespace: "core", OperationalState: vnfm.Started, OnFailure: vnfm.OnFailureResume}
	r, problems := resolveIn(pkg, spec)
	require.False(t, problems.HasErrors(), problems)
	record := vnfm.Instance{ID: "i-1", VIMID: spec.VIMID, Namespace: spec.Namespace, Status: vnfm.StatusInstantiated}
	describe(&record, spec, r)
	return planInput{record: record, spec: spec, wanted: r, observed: true}
}

// resolved is the input with what the package says about its request as it is now.
func (in planInput) resolved(t *testing.T) planInput {
	t.Helper()
	r, problems := resolveIn(in.wanted.pkg, in.spec)
	require.False(t, problems.HasErrors(), problems)
	in.wanted = r
	return in
}

func (p updatePlan) text() []string {
	var out []string
	for _, o := range p.operations {
		line := fmt.Sprintf("%s: %s", o.Type, o.Action)
		if o.Resumes {
			line += ", resumes"
		}
		if o.Anew {
			line += " anew"
		}
		if o.OnlyIfDrifted {
			line += ", if drifted"
		}
		if o.Leaving != "" {
			line += ", " + string(o.Leaving) + " leave"
		}
		if o.Status != vnfm.StatusInstantiated {
			line += ", then " + string(o.Status)
		}
		out = append(out, line)
	}
	if p.abandons {
		out = append(out, "the unfinished one is abandoned")
	}
	return out
}

// change is one change of a request, or of what is found, with the operation that it leads to when it is alone.
type change struct {
	name string
	make func(in *planInput)
	want string
	// covers says that the operation applies all objects, so that nothing is left to repair.
	covers bool
}

func changes() []change {
	return []change{
		{"description", func(in *planInput) { in.spec.Description = "other" }, "MODIFY_INFO: modify the record", false},
		{"readiness", func(in *planInput) { in.spec.Readiness = []vnfm.ReadinessRule{{Kind: "Cell"}} }, "MODIFY_INFO: apply new readiness rules", true},
		{"name", func(in *planInput) { in.spec.Name = "other" }, "MODIFY_INFO: rename", true},
		{"parameters", func(in *planInput) { in.spec.AdditionalParams = map[string]any{"a": "b"} }, "CHANGE_VNFPKG: change package, flavour or parameters, replaced leave", true},
		{"flavour", func(in *planInput) { in.spec.FlavourID = "complex" }, "CHANGE_FLAVOUR: change package, flavour or parameters, replaced leave", true},
		{"networks", func(in *planInput) {
			in.spec.Links.External = map[string]vnfm.ExtVirtualLink{"net": {ResourceID: "n1"}}
		}, "CHANGE_EXT_CONN: change external connectivity, replaced leave", true},
		{"stop", func(in *planInput) { in.spec.OperationalState = vnfm.Stopped }, "OPERATE: start or stop", false},
		{"scale", func(in *planInput) { in.spec.ScaleLevels = map[string]int{"workers": 1} }, "SCALE: scale, scaled in leave", false},
		{"level", func(in *planInput) { in.spec.LevelID = "large" }, "SCALE_TO_LEVEL: scale, scaled in leave", false},
		{"heal", func(in *planInput) { in.spec.Heal = &vnfm.HealSpec{Trigger: "1", VNFCIDs: []string{"VDU1-a"}} }, "HEAL: replace VNFCs, healed leave", false},
		{"heal all", func(in *planInput) { in.spec.Heal = &vnfm.HealSpec{Trigger: "1"} }, "HEAL: replace VNFCs, healed leave", true},
		{"drift", func(in *planInput) { in.drift = []string{"v1/ConfigMap a no longer exists"} }, "HEAL: repair, broken leave", true},
		{"driver parameters", func(in *planInput) { in.configured = "d1" }, "MODIFY_INFO: configure", false},
	}
}

// order is the order of operations whatever they are for.
var order = []action{
	actionModify, actionApplyReadiness, actionRename, actionChangePackage, actionConnect, actionOperate, actionScale, actionHeal, actionRepair, actionConfigure,
	actionRotateKubeconfig, actionSendCredentials,
}

// TestPlanOfPairs plans each change alone and each pair at once: both operations are there, once, in the order, but for a
// repair where the other one applies all objects, and for what one operation does for both.
func TestPlanOfPairs(t *testing.T) {
	all := changes()
	for i, a := range all {
		in := planned(t)
		a.make(&in)
		in = in.resolved(t)
		require.Equal(t, []string{a.want}, planUpdate(in).text(), a.name)
		for _, b := range all[i+1:] {
			in := planned(t)
			a.make(&in)
			b.make(&in)
			in = in.resolved(t)
			got := planUpdate(in)
			require.Equal(t, pairOf(a, b), got.text(), "%s and %s", a.name, b.name)
			require.True(t, slices.IsSortedFunc(got.operations, func(x, y plannedOperation) int { return slices.Index(order, x.Action) - slices.Index(order, y.Action) }), "%s and %s come as %v", a.name, b.name, got.text())
		}
	}
}

// pairOf is what two changes lead to at once; the first one is earlier in the list, which has the order of operations.
func pairOf(a, b change) []string {
	pair := a.name + " and " + b.name
	switch {
	case pair == "description and readiness", b.name == "name", pair == "heal and heal all":
		return []string{b.want} // one operation has both, or the later value replaces the earlier one
	case pair == "parameters and flavour":
		return []string{b.want}
	case (a.name == "readiness" || a.name == "name") && (b.name == "parameters" || b.name == "flavour"):
		// The change of the package waits by the rules and writes the name itself.
		return []string{"MODIFY_INFO: modify the record", b.want}
	case (a.name == "parameters" || a.name == "flavour") && b.name == "networks":
		return []string{a.want} // the package is applied with the networks
	case pair == "scale and level":
		return []string{b.want}
	case b.name == "drift" && a.covers:
		return []string{a.want}
	}
	return []string{a.want, b.want}
}

// TestPlanAfterAnInterruption plans what an earlier update did not finish.
func TestPlanAfterAnInterruption(t *testing.T) {
	interrupted := func(kind vnfm.OperationType, params map[string]any) func(*planInput) {
		return func(in *planInput) {
			in.record.Status = vnfm.StatusFailedTemp
			in.unfinished = &vnfm.Operation{Type: kind, State: vnfm.StateFailedTemp, Parameters: params}
		}
	}
	with := func(all ...func(*planInput)) func(*planInput) {
		return func(in *planInput) {
			for _, each := range all {
				each(in)
			}
		}
	}
	by := map[string]func(*planInput){}
	for _, c := range changes() {
		by[c.name] = c.make
	}
	tests := []struct {
		name string
		make func(*planInput)
		want []string
	}{
		{"nothing", func(*planInput) {}, nil},
		{"drift that was not looked for", func(in *planInput) { in.observed = false }, []string{"HEAL: repair, if drifted, broken leave"}},
		{"a lost record", func(in *planInput) { in.record.Status = vnfm.StatusFailedTemp }, []string{"HEAL: repair, broken leave"}},
		{"a scale is resumed", with(interrupted(vnfm.OpScale, nil), by["scale"]), []string{"SCALE: scale, resumes, scaled in leave"}},
		{
			"a scale is resumed, and then drift is looked for",
			with(interrupted(vnfm.OpScale, nil), by["scale"], func(in *planInput) { in.observed = false }),
			[]string{"SCALE: scale, resumes, scaled in leave", "HEAL: repair, if drifted, broken leave"},
		},
		{
			"a scale that is taken back",
			interrupted(vnfm.OpScale, nil),
			[]string{"HEAL: repair, broken leave", "the unfinished one is abandoned"},
		},
		{
			"another change on the way does not complete the instance",
			with(interrupted(vnfm.OpScale, nil), by["description"], by["stop"]),
			[]string{
				"MODIFY_INFO: modify the record, then FAILED_TEMP", "OPERATE: start or stop, then FAILED_TEMP", "HEAL: repair, broken leave",
				"the unfinished one is abandoned",
			},
		},
		{"a change of package is resumed", with(interrupted(vnfm.OpChangePackage, nil), by["parameters"]), []string{"CHANGE_VNFPKG: change package, flavour or parameters, resumes, replaced leave"}},
		{"a change of package that is taken back", interrupted(vnfm.OpChangePackage, nil), []string{"CHANGE_VNFPKG: change package, flavour or parameters, resumes, replaced leave"}},
		{"a change of flavour that is taken back", interrupted(vnfm.OpChangeFlavour, nil), []string{"CHANGE_FLAVOUR: change package, flavour or parameters, resumes, replaced leave"}},
		{"networks that are taken back", interrupted(vnfm.OpChangeExtConn, nil), []string{"CHANGE_EXT_CONN: change external connectivity, resumes, replaced leave"}},
		{
			"a change to the package of the record, of which the end was not written",
			func(in *planInput) {
				interrupted(vnfm.OpChangePackage, map[string]any{paramFromPackage: "former", paramPackage: in.spec.PackageID, paramFlavour: in.record.FlavourID})(in)
			},
			[]string{"CHANGE_VNFPKG: change package, flavour or parameters, resumes, replaced leave"},
		},
		{
			"a change to another package is taken back by an operation of its own",
			interrupted(vnfm.OpChangePackage, map[string]any{paramPackage: "next"}),
			[]string{"CHANGE_VNFPKG: change package, flavour or parameters, resumes anew, replaced leave"},
		},
		{
			"a scale to another level is an operation of its own",
			with(interrupted(vnfm.OpScale, map[string]any{"type": "SCALE_OUT", "aspect_id": "workers", "number_of_steps": 7}), by["scale"]),
			[]string{"SCALE: scale, resumes anew, scaled in leave"},
		},
		{
			"a heal of the same trigger is resumed",
			with(interrupted(vnfm.OpHeal, map[string]any{paramTrigger: "1", paramCause: "old", "vnfc_ids": []string{"VDU1-a"}}), by["heal"]),
			[]string{"HEAL: replace VNFCs, resumes, healed leave"},
		},
		{
			"a heal of another trigger is another operation, and the repair finishes the first",
			with(interrupted(vnfm.OpHeal, map[string]any{paramTrigger: "0"}), by["heal"]),
			[]string{"HEAL: replace VNFCs, healed leave, then FAILED_TEMP", "HEAL: repair, resumes, broken leave"},
		},
		{
			"only the last hook is left",
			with(interrupted(vnfm.OpScale, map[string]any{"aspect_id": "workers"}), func(in *planInput) { in.unfinished.Notes = map[string]string{noteWorked: "done"} }, by["heal"]),
			[]string{"SCALE: run the last hook of, resumes", "HEAL: replace VNFCs, healed leave"},
		},
		{
			"management drivers at other parameters leave the objects alone",
			with(interrupted(vnfm.OpModifyInfo, map[string]any{paramConfigures: true}), by["driver parameters"]),
			[]string{"MODIFY_INFO: configure, resumes"},
		},
	}
	for _, tt := range tests {
		in := planned(t)
		tt.make(&in)
		in = in.resolved(t)
		require.Equal(t, tt.want, planUpdate(in).text(), tt.name)
	}
}

// TestPlanOfBrokenVNFCs heals VNFCs that are not healthy before all changes, as the record has them; and after a change of the
// objects that failed.
func TestPlanOfBrokenVNFCs(t *testing.T) {
	by := map[string]func(*planInput){}
	for _, c := range changes() {
		by[c.name] = c.make
	}
	unfinished := func(kind vnfm.OperationType) func(*planInput) {
		return func(in *planInput) {
			in.record.Status = vnfm.StatusFailedTemp
			in.unfinished = &vnfm.Operation{Type: kind, State: vnfm.StateFailedTemp}
		}
	}
	const heal, change = "HEAL: replace VNFCs, healed leave", "CHANGE_VNFPKG: change package, flavour or parameters, replaced leave"
	for _, tt := range []struct {
		name string
		make []func(*planInput)
		want []string
		// recorded says that the heal works with what the record has.
		recorded bool
	}{
		{"alone", nil, []string{heal}, false},
		{"with a description", []func(*planInput){by["description"]}, []string{heal, "MODIFY_INFO: modify the record"}, false},
		{"with parameters", []func(*planInput){by["parameters"]}, []string{heal, change}, true},
		{"with networks", []func(*planInput){by["networks"]}, []string{heal, "CHANGE_EXT_CONN: change external connectivity, replaced leave"}, true},
		{"with a scale", []func(*planInput){by["scale"]}, []string{heal, "SCALE: scale, scaled in leave"}, false},
		{"with a stop", []func(*planInput){by["stop"]}, []string{heal, "OPERATE: start or stop"}, false},
		{"with a scale that failed", []func(*planInput){unfinished(vnfm.OpScale), by["scale"]}, []string{heal + ", then FAILED_TEMP", "SCALE: scale, resumes, scaled in leave"}, false},
		{"with a change that failed", []func(*planInput){unfinished(vnfm.OpChangePackage), by["parameters"]}, []string{strings.Replace(change, ", replaced", ", resumes, replaced", 1), heal}, false},
		{"with a record that cannot be read", []func(*planInput){by["parameters"], func(in *planInput) { in.present = nil }}, []string{change, heal}, false},
	} {
		in := planned(t)
		in.broken, in.present = true, &present{spec: in.spec, to: in.wanted}
		by["heal"](&in)
		for _, edit := range tt.make {
			edit(&in)
		}
		in = in.resolved(t)
		got := planUpdate(in)
		require.Equal(t, tt.want, got.text(), tt.name)
		for _, o := range got.operations {
			if o.Action == actionHeal && (in.present != nil && o.to == in.present.to) != tt.recorded {
				t.Errorf("%s: the heal works with another package than it should", tt.name)
			}
		}
	}
}

// TestPlanOfAWorkloadCluster rotates a kubeconfig last, and first when it has expired; credentials go to a sink with any
// operation, and in one of their own when there is none.
func TestPlanOfAWorkloadCluster(t *testing.T) {
	base := planned(t)
	base.record.Cluster, base.spec.Cluster = &vnfm.ClusterSpec{Name: "edge"}, &vnfm.ClusterSpec{Name: "edge"}
	plan := func(edit func(*planInput)) string {
		in := base
		edit(&in)
		return strings.Join(planUpdate(in.resolved(t)).text(), "; ")
	}
	rotate := func(in *planInput) { in.spec.RotationTrigger, in.spec.Description = "1", "other" }
	sink := func(in *planInput) { in.spec.Sink = &vnfm.CredentialsSink{URL: "https://sink.example"} }
	for _, tt := range []struct {
		name string
		edit func(*planInput)
		want string
	}{
		{"rotation", rotate, "MODIFY_INFO: modify the record; HEAL: regenerate the kubeconfig"},
		{"rotation of an expired one", func(in *planInput) { rotate(in); in.kubeconfigExpired = true }, "HEAL: regenerate the kubeconfig; MODIFY_INFO: modify the record"},
		{"rotation that is done", func(in *planInput) {
			in.spec.RotationTrigger, in.record.Rotation = "1", &vnfm.Rotation{Trigger: "1", Done: true}
		}, ""},
		{"a sink", sink, "MODIFY_INFO: send credentials"},
		{"a sink and a rotation", func(in *planInput) { rotate(in); sink(in) }, "MODIFY_INFO: modify the record; HEAL: regenerate the kubeconfig"},
		{"a sink that has them", func(in *planInput) {
			sink(in)
			in.record.Deliveries = map[string]vnfm.Delivery{"a/b": {URL: "https://sink.example"}}
		}, ""},
		{"a sink of a paused cluster", func(in *planInput) {
			sink(in)
			paused := *in.record.Cluster
			paused.Paused = new(true)
			in.record.Cluster, in.spec.Cluster = &paused, &paused
		}, ""},
	} {
		require.Equal(t, tt.want, plan(tt.edit), tt.name)
	}
}

// TestPlanIsAFunction plans twice from one input, which it leaves as it was.
func TestPlanIsAFunction(t *testing.T) {
	in := planned(t)
	for _, c := range changes() {
		c.make(&in)
	}
	in = in.resolved(t)
	before := fmt.Sprintf("%+v", in.record)
	first, second := planUpdate(in), planUpdate(in)
	require.Equal(t, first.text(), second.text(), "planned again")
	require.Equal(t, before, fmt.Sprintf("%+v", in.record), "the record was changed from")
}
