package lcm_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// realRendering renders as the driver for Kubernetes does; the VIM is that of driver.
type realRendering struct {
	*driver
	real vnfm.InfraDriver
}

func (d realRendering) Preview(ctx context.Context, t *vnfm.Target) (*vnfm.Preview, vnfm.Problems) {
	return d.real.Preview(ctx, t)
}

func (d realRendering) Render(ctx context.Context, t *vnfm.Target) (*vnfm.Rendering, vnfm.Problems) {
	return d.real.Render(ctx, t)
}

// release writes another release of the 5G core into a folder and returns it: texts are replaced in all of its files.
func release(t *testing.T, replace ...string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "packages", "core5g"))))
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path) //nolint:gosec // a path of the test
		if err != nil {
			return err
		}
		return os.WriteFile(path, []byte(strings.NewReplacer(replace...).Replace(string(text))), 0o600) //nolint:gosec // a path of the test
	}))
	return dir
}

// TestPlanUpdate says in words what the operations of a 5G core do.
func TestPlanUpdate(t *testing.T) {
	w := newEnv(t)
	w.Engine = w.openWith(t, map[vnfm.VIMType]vnfm.InfraDriver{
		vnfm.VIMTypeKubernetes: realRendering{driver: w.driver, real: kubernetes.New(kube.NewPool("test"))},
	})
	onboard := func(dir string) string {
		p, problems, err := w.OnboardPackage(t.Context(), vnfm.PackageSpec{Name: "core5g", Source: dir, Integrity: "ignore", Signature: "ignore"}, "")
		require.NoError(t, err)
		require.NoError(t, problems.Err())
		return p.ID
	}
	spec := w.spec()
	spec.Namespace, spec.PackageID = "core", onboard(release(t))
	planned := func(id string, spec vnfm.InstanceSpec, changed ...string) *vnfm.PlannedUpdate {
		t.Helper()
		differs := map[string]string{}
		for _, key := range changed {
			differs[key] = vnfm.Drifted + "spec.replicas"
		}
		out, err := w.PlanUpdate(t.Context(), id, spec, differs)
		require.NoError(t, err)
		require.NotNil(t, out)
		return out
	}
	expect := func(what string, want, got any) {
		t.Helper()
		require.Equal(t, want, got, what)
	}
	creation := planned("", spec)
	expect("creation", []string{
		"INSTANTIATE core5g 1.4.0: 60 objects", "  Job db-init: runs", "  amf: 2 added", "  ausf: added", "  db: 1 added", "  nrf: 1 added", "  nssf: 1 added",
		"  pcf: 1 added", "  smf: 2 added", "  udm: 1 added", "  udr: 1 added", "  upf: 1 added",
	}, creation.Operations)
	expect("changes of a creation", map[string][]string{}, creation.Changes)
	i := w.mustInstantiate(t, spec)
	expect("nothing to do", &vnfm.PlannedUpdate{Operations: []string{}, Changes: map[string][]string{}}, planned(i.ID, spec))

	scaled := spec
	scaled.ScaleLevels = map[string]int{"user-plane": 1}
	expect("scale", &vnfm.PlannedUpdate{
		Operations: []string{"SCALE user-plane 0 -> 1", "  upf: 1 -> 2"}, Changes: map[string][]string{},
	}, planned(i.ID, scaled))

	healed := spec
	healed.Heal = &vnfm.HealSpec{Trigger: "1", VDUIDs: []string{"amf"}}
	expect("heal", []string{"HEAL amf", "  amf: 2 replaced"}, planned(i.ID, healed).Operations)
	expect("repair", []string{"HEAL: repair 2 objects"}, planned(i.ID, spec, "v1/Service amf", "v1/Service smf").Operations)

	upgraded := scaled
	upgraded.PackageID = onboard(release(t, ":1.4.0", ":1.5.0", "1.4", "1.5"))
	got := planned(i.ID, upgraded)
	expect("upgrade", []string{
		"CHANGE_VNFPKG core5g 1.4.0 -> 1.5.0", "  Job db-init: runs again",
		"  amf: 2 rolled, 1 more at a time", "  ausf: rolled, 1 more at a time", "  nrf: 1 rolled, 1 more at a time",
		"  nssf: 1 rolled, 1 more at a time", "  pcf: 1 rolled, 1 more at a time", "  smf: 2 rolled, 1 more at a time",
		"  udm: 1 rolled, 1 more at a time", "  udr: 1 rolled, 1 more at a time", "  upf: 1 rolled, one at a time",
		"SCALE user-plane 0 -> 1", "  upf: 1 -> 2",
	}, got.Operations)
	expect("changes of an upgrade", []string{
		"spec.template.spec.containers[upf].image: registry.example.com/core5g/upf:1.4.0 -> registry.example.com/core5g/upf:1.5.0",
	}, got.Changes["apps/v1/StatefulSet upf"])
	require.Len(t, got.Changes, 10, "objects change")

	w.driver.breaks("scale")
	scaled.OnFailure = vnfm.OnFailureFail
	require.Error(t, second(w.Update(t.Context(), i.ID, scaled)), "the scale")
	expect("scale taken back", []string{"HEAL: take back SCALE"}, planned(i.ID, spec, "apps/v1/StatefulSet upf").Operations)
	w.driver.fail = nil
	_, err := w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)

	// An upgrade that failed half-way is taken back from where it stopped: what was not sent does not change.
	w.driver.breaks("applied")
	upgraded.OnFailure = vnfm.OnFailureFail
	require.Error(t, second(w.Update(t.Context(), i.ID, upgraded)), "the upgrade")
	back, err := w.PlanUpdate(t.Context(), i.ID, spec, map[string]string{"apps/v1/Deployment amf": "as 1.5.0 has it", "v1/Service gone": "as nothing has it"})
	require.NoError(t, err)
	expect("back", &vnfm.PlannedUpdate{
		Operations: []string{"CHANGE_VNFPKG core5g 1.5.0 half-way -> 1.4.0", "  amf: 2 rolled, 1 more at a time"},
		Changes: map[string][]string{
			"apps/v1/Deployment amf": {"spec.template.spec.containers[amf].image: registry.example.com/core5g/amf:1.5.0 -> registry.example.com/core5g/amf:1.4.0"},
			"v1/Service gone":        {"changed, old value not known"},
		},
	}, back)
	w.driver.fail = nil
	_, err = w.Update(t.Context(), i.ID, spec)
	require.NoError(t, err)
	settled := spec
	settled.Known.Generation++
	expect("after it", &vnfm.PlannedUpdate{Operations: []string{}, Changes: map[string][]string{}}, planned(i.ID, settled))

	// What many objects have alike is said once.
	labelled := spec
	labelled.PackageID = onboard(release(t, "app.kubernetes.io/part-of: core5g", "app.kubernetes.io/part-of: other"))
	got = planned(i.ID, labelled)
	expect("labels", []string{"metadata.labels.app.kubernetes.io/part-of: core5g -> other"}, got.Changes["60 objects"])
	expect("labels of pods", []string{"spec.template.metadata.labels.app.kubernetes.io/part-of: core5g -> other"}, got.Changes["11 objects"])

	// The values of a Secret are not shown, and its pods are replaced.
	configured := spec
	configured.PackageID = onboard(release(t, "password: example-only", "password: another-secret", "tac: 1", "tac: 2"))
	got = planned(i.ID, configured)
	expect("configuration", []string{"CHANGE_VNFPKG core5g 1.4.0, another content", "  amf: 2 rolled, 1 more at a time", "  db: 1 rolled, one at a time", "  udr: 1 rolled, 1 more at a time"}, got.Operations)
	expect("changes of configuration", map[string][]string{
		"v1/ConfigMap amf-config":  {"data.amf.yaml, line 7: tac: 1 -> tac: 2"},
		"v1/Secret db-credentials": {"data.password: changed"},
		"apps/v1/Deployment amf":   {"spec.template: reads other configuration"},
		"apps/v1/Deployment udr":   {"spec.template: reads other configuration"},
		"apps/v1/StatefulSet db":   {"spec.template: reads other configuration"},
	}, got.Changes)

	// With leave to replace an object, another selector interrupts; without it, it is said to be an error elsewhere. A replaced
	// StatefulSet with the same selector keeps its pods.
	moved := spec
	moved.ReplaceObjects = []string{"apps/v1/StatefulSet upf"}
	moved.PackageID = onboard(release(t, "serviceName: upf", "serviceName: upf-n4"))
	expect("pods stay", []string{"CHANGE_VNFPKG core5g 1.4.0, another content"}, planned(i.ID, moved).Operations)
	moved.ReplaceObjects = nil
	moved.PackageID = onboard(release(t, "Parallel\n  selector:\n    matchLabels: {", "Parallel\n  selector:\n    matchLabels: { app.kubernetes.io/part-of: core5g,"))
	expect("without leave", []string{"CHANGE_VNFPKG core5g 1.4.0, another content"}, planned(i.ID, moved).Operations)
	moved.ReplaceObjects = []string{"apps/v1/StatefulSet upf"}
	expect("with leave", []string{"CHANGE_VNFPKG core5g 1.4.0, another content", "  upf: 1 deleted and made again, interrupted"}, planned(i.ID, moved).Operations)

	// A plan that is applied again says the same, however far the apply before it came.
	_, err = w.Update(t.Context(), i.ID, configured)
	require.NoError(t, err)
	expect("the same plan again", got, planned(i.ID, configured))
	configured.Known.Generation++
	expect("a later plan", &vnfm.PlannedUpdate{Operations: []string{}, Changes: map[string][]string{}}, planned(i.ID, configured))
}

// TestPlanSaysTheSameTwice plans an instance while another process begins an operation on it, with a plan of its own in between: the apply
// asks the first question again, and is told the same.
func TestPlanSaysTheSameTwice(t *testing.T) {
	w := newEnv(t)
	i, err := w.Instantiate(t.Context(), w.spec())
	require.NoError(t, err)
	ask := func(e *lcm.Engine, level int) []string {
		t.Helper()
		spec := w.spec()
		spec.ScaleLevels = map[string]int{"workers": level}
		spec.Known.Status, spec.Known.Generation = i.Status, 1
		planned, err := e.PlanUpdate(t.Context(), i.ID, spec, nil)
		require.NoError(t, err)
		return planned.Operations
	}
	other := w.open(t)
	ask(other, 2)
	first := ask(w.Engine, 1)
	ask(other, 3)
	w.driver.breaks("scale")
	spec := w.spec()
	spec.ScaleLevels = map[string]int{"workers": 1}
	require.Error(t, second(other.Update(t.Context(), i.ID, spec)), "the operation of the other process went well")
	require.Equal(t, first, ask(w.open(t), 1), "said to the same question")
	require.NotEmpty(t, first, "said to the same question")
	w.driver.fail = nil
	require.NoError(t, w.Terminate(t.Context(), i.ID, vnfm.TerminateSpec{Type: vnfm.Forceful, Volumes: vnfm.VolumesDelete}))
	require.Empty(t, w.records(t, store.KindPlan), "notes of plans")
}
