package render

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// sharedTarget is a target with a VDU and a Secret. All inputs of its rendering are set.
func sharedTarget() *vnfm.Target {
	t := targettest.Manifests(map[string]string{
		"a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: amf }\nspec: { replicas: 1 }\n---\napiVersion: v1\nkind: Secret\nmetadata: { name: login }\nstringData: { password: one }\n",
	}, map[string]int{"amf": 2})
	t.Instance.AdditionalParams = map[string]any{"vdu_mapping": map[string]any{"amf": map[string]any{"kind": "Deployment", "name": "amf"}}}
	return t
}

// TestEqualInputsShareARendering renders for a preview, a comparison and an apply. Fields that are no inputs of a rendering differ.
func TestEqualInputsShareARendering(t *testing.T) {
	var shared Renderings
	first, ps := shared.Render(t.Context(), sharedTarget())
	require.Empty(t, ps)
	recorded := sharedTarget()
	recorded.VIM, recorded.Compared, recorded.Concurrency, recorded.ForceConflicts = &vnfm.VIM{Name: "lab", Type: vnfm.VIMTypeKubernetes}, true, 4, true
	recorded.Instance.ID, recorded.Instance.Status, recorded.Instance.Generation = "other", vnfm.StatusInstantiated, 3
	recorded.Instance.Inventory = []vnfm.InventoryItem{{Key: "v1/Secret login"}}
	recorded.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: "token"}
	for name, ask := range map[string]func(context.Context, *vnfm.Target) (*Rendering, vnfm.Problems){"render": shared.Render, "make": shared.Make} {
		again, ps := ask(t.Context(), recorded)
		require.Empty(t, ps)
		require.Same(t, first, again, name)
	}
	preview, ps := shared.Preview(t.Context(), recorded)
	require.Empty(t, ps)
	// Callers may change a preview.
	clear(preview.Objects)
	clear(preview.VDUs)
	own, _ := Render(budget.New(t.Context(), budget.Limits{}), sharedTarget())
	require.True(t, reflect.DeepEqual(own.Objects, first.Objects) && reflect.DeepEqual(own.States, first.States), "the shared rendering was changed")
}

// TestOtherInputsShareNothing changes each input individually.
func TestOtherInputsShareNothing(t *testing.T) {
	tb := t
	changes := map[string]func(*vnfm.Target){
		"VIM": func(t *vnfm.Target) {
			t.VIM = &vnfm.VIM{Type: vnfm.VIMTypeKubernetes, Kubernetes: &vnfm.KubernetesConnection{DefaultNamespace: "ran"}}
		},
		"Package": func(t *vnfm.Target) { t.Package.Digest = "sha256:2" },
		"Package, files": func(t *vnfm.Target) {
			t.Package.Files = []vnfm.PackageFile{{Path: "https://example.com/a", Digest: "sha256:3"}}
		},
		"Package, id":         func(t *vnfm.Target) { t.Package.ID = "other@sha256:1" },
		"Package, manifests":  func(t *vnfm.Target) { t.Package.KubernetesFiles = append(t.Package.KubernetesFiles, "b.yaml") },
		"Package, later":      func(t *vnfm.Target) { t.Package.Later = []string{"v1 Secret login"} },
		"Package, more later": func(t *vnfm.Target) { t.Package.NamesLater = true },
		"Flavour":             func(t *vnfm.Target) { t.Flavour.ID = "other" },
		"Flavour, VDUs":       func(t *vnfm.Target) { t.Flavour.VDUs[0].Name = "other" },
		"Part":                func(t *vnfm.Target) { t.Part = &vnfm.Part{Rest: true} },
		"Counts":              func(t *vnfm.Target) { t.Counts = map[string]int{"amf": 3} },
		"SecretParams":        func(t *vnfm.Target) { t.SecretParams = map[string]any{"helm_parameters": map[string]any{"a": "b"}} },
		"AvailabilityZones":   func(t *vnfm.Target) { t.AvailabilityZones = []string{"a"} },
		"DigestKey":           func(t *vnfm.Target) { t.DigestKey = []byte("other") },
		"no DigestKey":        func(t *vnfm.Target) { t.DigestKey = nil },
		"Results":             func(t *vnfm.Target) { t.Results = vnfm.NewResults([]byte("a")) },
		"no Results":          func(t *vnfm.Target) { t.Results = vnfm.NewResults(nil) },
		"Regenerate":          func(t *vnfm.Target) { t.Regenerate = &vnfm.RegenerateSpec{Trigger: "1"} },
		"Recorded":            func(t *vnfm.Target) { t.Recorded = "a: b" },
		"Restores":            func(t *vnfm.Target) { t.Restores = true },
		"Results, before": func(t *vnfm.Target) {
			t.Results = vnfm.NewResults([]byte("b"))
			require.NoError(tb, t.Results.Update(context.Background(), func([]byte) []byte { return []byte("a") }))
		},

		"Instance, Name":             func(t *vnfm.Target) { t.Instance.Name = "core-2" },
		"Instance, VIMID":            func(t *vnfm.Target) { t.Instance.VIMID = "other" },
		"Instance, Generation":       func(t *vnfm.Target) { t.Instance.Generation, t.Results = 1, vnfm.NewResults([]byte("a")) },
		"Instance, Namespace":        func(t *vnfm.Target) { t.Instance.Namespace = "default" },
		"Instance, AdditionalParams": func(t *vnfm.Target) { t.Instance.AdditionalParams["namespace"] = "ran" },
		"Instance, whole numbers":    func(t *vnfm.Target) { t.Instance.AdditionalParams["a"] = int64(1) },
		"Instance, other numbers":    func(t *vnfm.Target) { t.Instance.AdditionalParams["a"] = float64(1) },
		"Instance, texts":            func(t *vnfm.Target) { t.Instance.AdditionalParams["a"] = "1" },
		"Instance, lists":            func(t *vnfm.Target) { t.Instance.AdditionalParams["a"] = []any{"1"} },
		"Instance, longer lists":     func(t *vnfm.Target) { t.Instance.AdditionalParams["a"] = []any{"1", "1"} },
		"Instance, OperationalState": func(t *vnfm.Target) { t.Instance.OperationalState = vnfm.Stopped },
		"Instance, ScaleLevels":      func(t *vnfm.Target) { t.Instance.ScaleLevels = map[string]int{"a": 1} },
		"Instance, Readiness": func(t *vnfm.Target) {
			t.Instance.Readiness = []vnfm.ReadinessRule{{Kind: "apps/Deployment", Condition: "A"}}
		},
		"Instance, Links": func(t *vnfm.Target) { t.Instance.Links.Managed = map[string]string{"a": "b"} },
		"Instance, more of Readiness": func(t *vnfm.Target) {
			t.Instance.Readiness = []vnfm.ReadinessRule{{Kind: "apps/Deployment", Condition: "B"}}
		},
	}
	seen := map[inputs]string{}
	everything := sharedTarget()
	for name, change := range changes {
		target := sharedTarget()
		change(target)
		id, ok := identify(inputsOf(target))
		require.True(t, ok, name)
		require.NotContains(t, seen, id, "%s and %s share a rendering", name, seen[id])
		seen[id] = name
		if part := strings.Split(name, ",")[0]; name == part && !strings.HasPrefix(name, "no ") {
			change(everything)
		}
	}
	// The changes cover all fields that inputsOf copies.
	got := reflect.ValueOf(*inputsOf(everything))
	for field, value := range got.Fields() {
		_, tested := changes[field.Name]
		require.Equal(t, !value.IsZero(), tested || field.Name == "Instance", field.Name)
	}
	for field, value := range got.FieldByName("Instance").Elem().Fields() {
		_, tested := changes["Instance, "+field.Name]
		require.True(t, value.IsZero() || tested, field.Name)
	}
}

// TestWhatIsNotKept: packages without a digest, renderings with errors, too large ones, too old ones, and more than the bounds allow.
func TestWhatIsNotKept(t *testing.T) {
	var shared Renderings
	render := func(change func(*vnfm.Target)) {
		t.Helper()
		target := sharedTarget()
		change(target)
		_, _ = shared.Render(t.Context(), target)
	}
	render(func(t *vnfm.Target) { t.Package.Digest = "" })
	render(func(t *vnfm.Target) { t.Counts = nil })
	require.Empty(t, shared.kept)

	for i := range maxKeptRenderings + 2 {
		render(func(t *vnfm.Target) { t.Instance.Name = fmt.Sprint(i) })
	}
	require.Len(t, shared.kept, maxKeptRenderings)
	require.InDelta(t, 500, shared.kept[0].size, 200)
	shared.keep(&keptRendering{size: maxKept + 1})
	require.Len(t, shared.kept, maxKeptRenderings)
	for range 3 {
		shared.keep(&keptRendering{size: maxKept / 2, made: time.Now()})
	}
	require.Len(t, shared.kept, 2)
	render(func(*vnfm.Target) {})
	require.Len(t, shared.kept, 2)

	last := shared.kept[1]
	last.made = time.Now().Add(-2 * keptFor)
	r, _ := shared.find(last.inputs)
	require.Nil(t, r)
}

// TestProblemsOfASharedRendering: each caller gets a copy of the warnings of the first rendering.
func TestProblemsOfASharedRendering(t *testing.T) {
	var shared Renderings
	for range 2 {
		target := sharedTarget()
		target.Instance.AdditionalParams["namespace"] = "ran"
		target.Package.Content, target.Package.Digest = targettest.Manifests(map[string]string{
			"a.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: amf, namespace: core }\nspec: { template: {} }\n",
		}, nil).Package.Content, "sha256:4"
		r, ps := shared.Render(t.Context(), target)
		require.Same(t, shared.kept[0].rendering, r)
		require.Len(t, ps, 1)
		require.Contains(t, ps[0].Summary, "moves objects to namespace ran")
		ps[0].Summary = ""
	}
}

// TestChartOfAnApplyIsItsOwn: the rendering of a chart for an apply makes and saves results and is not shared.
func TestChartOfAnApplyIsItsOwn(t *testing.T) {
	var shared Renderings
	planned, saved := passwordChart(), 0
	planned.Results = vnfm.NewResults(nil)
	planned.Results.SavedBy(func(context.Context, []byte) error { saved++; return nil })
	first, ps := shared.Render(t.Context(), planned)
	require.Empty(t, ps)
	again, _ := shared.Render(t.Context(), planned)
	require.Same(t, first, again)
	require.Zero(t, saved)
	made, ps := shared.Make(t.Context(), planned)
	require.Empty(t, ps)
	require.NotSame(t, first, made)
	require.Equal(t, 1, saved)
	shown, _ := shared.Render(t.Context(), planned)
	require.NotSame(t, first, shown, "there are results now")
	require.NotSame(t, made, shown)
}

// TestSharedResultsAreTooLarge checks the size of planned results for each caller, because the parts of an instance share the limit.
func TestSharedResultsAreTooLarge(t *testing.T) {
	var shared Renderings
	target := passwordChart()
	target.Results = vnfm.NewResults(nil)
	r, ps := shared.Render(t.Context(), target)
	require.Empty(t, ps)
	r.Release.ResultsSize = vnfm.MaxResults + 1
	_, ps = shared.Render(t.Context(), target)
	require.Len(t, ps, 1)
	require.Contains(t, ps[0].Summary, "the results of random functions would take")
}

// TestOtherPlaceOfReplicas moves replicas to another path in a copy and leaves the rendering unchanged.
func TestOtherPlaceOfReplicas(t *testing.T) {
	target := targettest.Manifests(map[string]string{"a.yaml": "apiVersion: example.com/v1\nkind: Pool\nmetadata: { name: amf }\nspec: { replicas: 1, size: 3, a: b }\n"},
		map[string]int{"amf": 2})
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.Empty(t, ps)
	o := r.VDUs["amf"]
	other := o.WithReplicasAt([]string{"spec", "size"})
	with := r.With(map[*Object]*Object{o: other})
	require.Equal(t, []*Object{other}, with.Objects)
	require.Equal(t, map[string]*Object{"amf": other}, with.VDUs)
	require.Equal(t, map[string]any{"a": "b"}, other.Field("spec"))
	require.Equal(t, []string{"spec", "size"}, other.Scaling.Path)
	require.Equal(t, map[string]any{"a": "b", "size": int64(3)}, o.Field("spec"))
	require.Equal(t, []string{"spec", "replicas"}, o.Scaling.Path)
	require.Same(t, o, r.Objects[0])
	require.Equal(t, map[string]any{"a": "b", "size": int64(3)}, o.WithReplicasAt([]string{"spec", "none", "count"}).Field("spec"))
}
