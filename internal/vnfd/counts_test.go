package vnfd

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// flavour is a small and consistent flavour: media in two aspects, one of them
// not uniform; signal in one; db in none.
func flavour() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID: "f",
		VDUs: []vnfm.VDU{
			{ID: "media", Name: "media", MinInstances: 1, MaxInstances: 9, InitialDelta: ptr(1)},
			{ID: "signal", Name: "signal", MinInstances: 1, MaxInstances: 5, InitialDelta: ptr(1)},
			{ID: "db", Name: "db", MinInstances: 2, MaxInstances: 2},
		},
		Aspects: []vnfm.ScalingAspect{
			{
				ID: "media_aspect", MaxLevel: 3, StepDeltas: []string{"one", "two", "one"},
				Deltas: map[string]map[string]int{"one": {"media": 1}, "two": {"media": 2}},
			},
			{
				ID: "all_aspect", MaxLevel: 2, StepDeltas: []string{"each"},
				Deltas: map[string]map[string]int{"each": {"media": 2, "signal": 2}},
			},
		},
		Levels: []vnfm.InstantiationLevel{
			{ID: "low", Counts: map[string]int{"media": 1, "signal": 1}},
			{ID: "high", ScaleInfo: map[string]int{"media_aspect": 2, "all_aspect": 1}, Counts: map[string]int{"media": 6, "signal": 3}},
		},
		DefaultLevelID: "low",
	}
}

// The greatest numbers are those of the highest scale levels, or of an instantiation level, within vdu_profile.
func TestMaxCounts(t *testing.T) {
	f := flavour()
	assert.Equal(t, map[string]int{"media": 9, "signal": 5, "db": 2}, MaxCounts(f))
	f.VDUs[0].MaxInstances, f.VDUs[1].MaxInstances = 4, 0
	f.Levels = append(f.Levels, vnfm.InstantiationLevel{ID: "odd", Counts: map[string]int{"signal": 7, "db": 3}})
	f.VDUs[2].MaxInstances = 0
	assert.Equal(t, map[string]int{"media": 4, "signal": 11, "db": 3}, MaxCounts(f))
}

func TestCounts(t *testing.T) {
	// The level counts of inconsistent are not what the formula gives: VDU2 has 2
	// and 4 instances at its levels, the formula gives 3 and 4.
	inconsistent := func() *vnfm.Flavour {
		return &vnfm.Flavour{
			ID:      "inconsistent",
			VDUs:    []vnfm.VDU{{ID: "VDU2", MinInstances: 1, MaxInstances: 3, InitialDelta: ptr(2)}},
			Aspects: []vnfm.ScalingAspect{{ID: "a", MaxLevel: 2, StepDeltas: []string{"d"}, Deltas: map[string]map[string]int{"d": {"VDU2": 1}}}},
			Levels: []vnfm.InstantiationLevel{
				{ID: "l1", ScaleInfo: map[string]int{"a": 1}, Counts: map[string]int{"VDU2": 2}},
				{ID: "l2", ScaleInfo: map[string]int{"a": 2}, Counts: map[string]int{"VDU2": 4}},
			},
			DefaultLevelID: "l1",
		}
	}
	without := func(change func(f *vnfm.Flavour)) func() *vnfm.Flavour {
		return func() *vnfm.Flavour {
			f := flavour()
			change(f)
			return f
		}
	}
	tests := []struct {
		name     string
		flavour  func() *vnfm.Flavour
		level    string
		scale    map[string]int
		want     map[string]int
		status   map[string]int
		problems string
	}{
		{
			name: "default level", want: map[string]int{"media": 1, "signal": 1, "db": 2},
			status: map[string]int{"media_aspect": 0, "all_aspect": 0},
		},
		{
			name: "level", level: "high", want: map[string]int{"media": 6, "signal": 3, "db": 2},
			status: map[string]int{"media_aspect": 2, "all_aspect": 1},
		},
		{
			name: "first step of deltas that are not uniform", scale: map[string]int{"media_aspect": 1},
			want: map[string]int{"media": 2, "signal": 1, "db": 2}, status: map[string]int{"media_aspect": 1, "all_aspect": 0},
		},
		{
			name: "second step", scale: map[string]int{"media_aspect": 2},
			want: map[string]int{"media": 4, "signal": 1, "db": 2}, status: map[string]int{"media_aspect": 2, "all_aspect": 0},
		},
		{
			name: "third step", scale: map[string]int{"media_aspect": 3},
			want: map[string]int{"media": 5, "signal": 1, "db": 2}, status: map[string]int{"media_aspect": 3, "all_aspect": 0},
		},
		{
			name: "one VDU in two aspects, both at the highest level", scale: map[string]int{"media_aspect": 3, "all_aspect": 2},
			want: map[string]int{"media": 9, "signal": 5, "db": 2}, status: map[string]int{"media_aspect": 3, "all_aspect": 2},
		},
		{
			name: "one aspect up from a level", level: "high", scale: map[string]int{"media_aspect": 3},
			want: map[string]int{"media": 7, "signal": 3, "db": 2}, status: map[string]int{"media_aspect": 3, "all_aspect": 1},
		},
		{
			name: "one aspect down from a level", level: "high", scale: map[string]int{"media_aspect": 1, "all_aspect": 0},
			want: map[string]int{"media": 2, "signal": 1, "db": 2}, status: map[string]int{"media_aspect": 1, "all_aspect": 0},
		},
		{
			name: "no levels at all", flavour: without(func(f *vnfm.Flavour) { f.Levels, f.DefaultLevelID = nil, "" }), scale: map[string]int{"all_aspect": 1},
			want: map[string]int{"media": 3, "signal": 3, "db": 2}, status: map[string]int{"media_aspect": 0, "all_aspect": 1},
		},
		{
			name: "no initial delta", flavour: without(func(f *vnfm.Flavour) { f.Levels, f.DefaultLevelID = nil, ""; f.VDUs[1].InitialDelta = nil }), scale: map[string]int{"all_aspect": 1},
			want: map[string]int{"media": 3, "signal": 3, "db": 2}, status: map[string]int{"media_aspect": 0, "all_aspect": 1},
		},
		{
			name: "no default level", flavour: without(func(f *vnfm.Flavour) { f.DefaultLevelID = "" }),
			want: map[string]int{"media": 1, "signal": 1, "db": 2}, status: map[string]int{"media_aspect": 0, "all_aspect": 0},
			problems: "error [instantiation_level_id/] the deployment flavour \"f\" has no default instantiation level: name one of \"low\", \"high\"\n",
		},
		{
			name: "no upper limit", flavour: without(func(f *vnfm.Flavour) { f.VDUs[1].MaxInstances = 0; f.Aspects[1].MaxLevel = 1000 }), scale: map[string]int{"all_aspect": 4},
			want: map[string]int{"media": 9, "signal": 9, "db": 2}, status: map[string]int{"media_aspect": 0, "all_aspect": 4},
		},
		{
			name: "unknown level", level: "mid",
			want: map[string]int{"media": 1, "signal": 1, "db": 2}, status: map[string]int{"media_aspect": 0, "all_aspect": 0},
			problems: "error [instantiation_level_id/] the deployment flavour \"f\" has no instantiation level \"mid\": it has \"low\", \"high\"\n",
		},
		{
			name: "unknown aspect and level out of range", scale: map[string]int{"x": 1, "all_aspect": 3, "media_aspect": -1},
			want: map[string]int{"media": 1, "signal": 1, "db": 2}, status: map[string]int{"media_aspect": 0, "all_aspect": 0},
			problems: "error [scale_levels/all_aspect] the scale level 3 of the aspect \"all_aspect\" is out of range: it goes from 0 to 2\n" +
				"error [scale_levels/media_aspect] the scale level -1 of the aspect \"media_aspect\" is out of range: it goes from 0 to 3\n" +
				"error [scale_levels/x] the deployment flavour \"f\" has no scaling aspect \"x\": it has \"media_aspect\", \"all_aspect\"\n",
		},
		{
			name: "above the maximum", flavour: without(func(f *vnfm.Flavour) { f.VDUs[0].MaxInstances = 8 }), scale: map[string]int{"media_aspect": 3, "all_aspect": 2},
			want: map[string]int{"media": 9, "signal": 5, "db": 2}, status: map[string]int{"media_aspect": 3, "all_aspect": 2},
			problems: "error [scale_levels/] the VDU media would have 9 instances at the scale levels media_aspect=3, all_aspect=2: vdu_profile allows 8 at most\n",
		},
		{
			name: "below the minimum", flavour: without(func(f *vnfm.Flavour) { f.VDUs[0].MinInstances = 2 }),
			want: map[string]int{"media": 1, "signal": 1, "db": 2}, status: map[string]int{"media_aspect": 0, "all_aspect": 0},
			problems: "error [instantiation_level_id/] the VDU media would have 1 instance at the scale levels media_aspect=0, all_aspect=0: vdu_profile allows 2 at least\n",
		},
		{
			name: "above the maximum without aspects", level: "l",
			flavour: func() *vnfm.Flavour {
				return &vnfm.Flavour{
					ID: "g", VDUs: []vnfm.VDU{{ID: "v", MinInstances: 1, MaxInstances: 1}},
					Levels: []vnfm.InstantiationLevel{{ID: "l", Counts: map[string]int{"v": 2}}},
				}
			},
			want: map[string]int{"v": 2}, status: map[string]int{},
			problems: "error [instantiation_level_id/] the VDU v would have 2 instances at the instantiation level l: vdu_profile allows 1 at most\n",
		},
		{
			name: "inconsistent, the level's count", flavour: inconsistent, level: "l1",
			want: map[string]int{"VDU2": 2}, status: map[string]int{"a": 1},
		},
		{
			name: "inconsistent, scaled out", flavour: inconsistent, level: "l1", scale: map[string]int{"a": 2},
			want: map[string]int{"VDU2": 3}, status: map[string]int{"a": 2},
		},
		{
			name: "inconsistent, scaled in", flavour: inconsistent, level: "l1", scale: map[string]int{"a": 0},
			want: map[string]int{"VDU2": 1}, status: map[string]int{"a": 0},
		},
		{
			name: "inconsistent, above the maximum", flavour: inconsistent, level: "l2",
			want: map[string]int{"VDU2": 4}, status: map[string]int{"a": 2},
			problems: "error [instantiation_level_id/] the VDU VDU2 would have 4 instances at the scale levels a=2: vdu_profile allows 3 at most\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := flavour()
			if tt.flavour != nil {
				f = tt.flavour()
			}
			got, problems := Counts(f, tt.level, tt.scale)
			assert.Equal(t, tt.want, got, "counts")
			text := ""
			for _, p := range problems {
				severity := "error"
				if p.Severity != vnfm.SeverityError {
					severity = "warning"
				}
				text += fmt.Sprintf("%s [%s/%s] %s\n", severity, p.Attribute, p.Key, p)
			}
			assert.Equal(t, tt.problems, text, "problems")
			status, _ := scaleStatus(f, tt.level, tt.scale)
			assert.Equal(t, tt.status, status, "scale status")
		})
	}
}

// TestScaleProperties holds for flavours made at random: Counts is the initial
// delta plus the sum of the steps, and each step alone adds its delta.
func TestScaleProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 2000 {
		f := randomFlavour(rnd)
		scale := map[string]int{}
		for _, a := range f.Aspects {
			scale[a.ID] = rnd.IntN(a.MaxLevel + 1)
		}
		got, problems := Counts(f, "", scale)
		require.False(t, problems.HasErrors(), "round %d: %s", round, lines(problems))
		want := map[string]int{}
		for _, v := range f.VDUs {
			want[v.ID] = *v.InitialDelta
			for _, a := range f.Aspects {
				for i := range scale[a.ID] {
					d := a.StepDeltas[min(i, len(a.StepDeltas)-1)]
					want[v.ID] += a.Deltas[d][v.ID]
				}
			}
		}
		require.Equal(t, want, got, "round %d, %+v at %v", round, f.Aspects, scale)
		// From every level of the flavour the same scale levels give the same counts.
		for _, l := range f.Levels {
			again, _ := Counts(f, l.ID, scale)
			require.True(t, maps.Equal(again, got), "round %d: from the level %s: %v, from the default level: %v", round, l.ID, again, got)
		}
		problems = check(f2d(f), nil)
		require.False(t, problems.HasErrors(), "round %d: %s", round, lines(problems))
	}
}

func f2d(f *vnfm.Flavour) *vnfm.Descriptor { return &vnfm.Descriptor{Flavours: []vnfm.Flavour{*f}} }

// randomFlavour makes a consistent flavour.
func randomFlavour(rnd *rand.Rand) *vnfm.Flavour {
	f := &vnfm.Flavour{ID: "f", DefaultLevelID: "l0"}
	for i := range 1 + rnd.IntN(4) {
		f.VDUs = append(f.VDUs, vnfm.VDU{ID: fmt.Sprintf("v%d", i), Name: fmt.Sprintf("v%d", i), InitialDelta: ptr(rnd.IntN(4))})
	}
	for i := range 1 + rnd.IntN(3) {
		a := vnfm.ScalingAspect{ID: fmt.Sprintf("a%d", i), MaxLevel: 1 + rnd.IntN(5), Deltas: map[string]map[string]int{}}
		steps := 1
		if rnd.IntN(2) == 0 {
			steps = a.MaxLevel
		}
		for j := range steps {
			d := fmt.Sprintf("d%d", rnd.IntN(j+1))
			a.StepDeltas = append(a.StepDeltas, d)
			a.Deltas[d] = map[string]int{}
		}
		for _, d := range slices.Sorted(maps.Keys(a.Deltas)) {
			for _, v := range f.VDUs {
				if rnd.IntN(2) == 0 {
					a.Deltas[d][v.ID] = rnd.IntN(4)
				}
			}
		}
		f.Aspects = append(f.Aspects, a)
	}
	for i := range 1 + rnd.IntN(3) {
		l := vnfm.InstantiationLevel{ID: fmt.Sprintf("l%d", i), ScaleInfo: map[string]int{}, Counts: map[string]int{}}
		for _, a := range f.Aspects {
			l.ScaleInfo[a.ID] = rnd.IntN(a.MaxLevel + 1)
		}
		for _, v := range f.VDUs {
			n := *v.InitialDelta
			for j := range f.Aspects {
				n += stepsTo(&f.Aspects[j], v.ID, l.ScaleInfo[f.Aspects[j].ID])
			}
			l.Counts[v.ID] = n
		}
		f.Levels = append(f.Levels, l)
	}
	return f
}

func TestCheckWithoutPositions(t *testing.T) {
	problems := check(f2d(flavour()), nil)
	assert.Empty(t, problems, "the good flavour has problems:\n%s", lines(problems))
	f := flavour()
	f.Aspects[0].StepDeltas = []string{"one", "two"}
	f.DefaultLevelID = "x"
	want := `error the scaling aspect media_aspect has 2 step_deltas for 3 steps: give one delta for all steps, or one for each
error the default level "x" does not exist: the levels are "low", "high"
`
	assert.Equal(t, want, lines(check(f2d(f), nil)), "problems")
}
