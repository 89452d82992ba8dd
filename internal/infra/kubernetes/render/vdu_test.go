package render

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func count(n int) *int { return &n }

func TestVDUs(t *testing.T) {
	const (
		hpaV2  = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: amf}}\n"
		keda   = "---\napiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: h}\nspec: {scaleTargetRef: {name: amf}}\n"
		other  = "---\napiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: h, namespace: elsewhere}\nspec: {scaleTargetRef: {kind: Deployment, name: amf}}\n"
		daemon = "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: amf}\n"
		pod    = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: amf}\n"
		set    = "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: amf}\n"
		custom = "---\napiVersion: example.org/v1\nkind: Cell\nmetadata: {name: amf}\nspec: {replicas: 2}\n"
		sized  = "---\napiVersion: example.org/v1\nkind: Cell\nmetadata: {name: amf}\nspec: {size: 2}\n"
		crd    = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: cells.example.org}\nspec: {group: example.org, scope: Namespaced, names: {kind: Cell, plural: cells}, versions: [{name: v1, served: true, subresources: {scale: {specReplicasPath: .spec.size}}}]}\n"
	)
	tests := map[string]struct {
		text    string
		counts  map[string]int
		params  map[string]any
		stopped bool
		want    map[string]vnfm.VDUState
		problem string
	}{
		"deployment": {text: deploymentAMF, counts: map[string]int{"amf": 3}, want: map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "amf", Replicas: count(3)}}},
		"preferred":  {text: pod + daemon + set + custom, counts: map[string]int{"amf": 3}, want: map[string]vnfm.VDUState{"amf": {Kind: "StatefulSet", Name: "amf", Replicas: count(3)}}},
		"daemon set": {text: daemon, counts: map[string]int{"amf": 3}, want: map[string]vnfm.VDUState{"amf": {Kind: "DaemonSet", Name: "amf"}}},
		"pod":        {text: pod, counts: map[string]int{"amf": 1}, want: map[string]vnfm.VDUState{"amf": {Kind: "Pod", Name: "amf", Replicas: count(1)}}},
		"custom":     {text: custom, counts: map[string]int{"amf": 4}, want: map[string]vnfm.VDUState{"amf": {Kind: "Cell", Name: "amf", Replicas: count(4)}}},
		"custom path": {text: sized + crd, counts: map[string]int{"amf": 4},
			want: map[string]vnfm.VDUState{"amf": {Kind: "Cell", Name: "amf", Replicas: count(4)}}},
		"mapped": {text: custom + deploymentAMF2("x"), counts: map[string]int{"amf": 2}, params: map[string]any{"vdu_mapping": map[string]any{"amf": map[string]any{"kind": "Deployment", "name": "x"}}},
			want: map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "x", Replicas: count(2)}}},
		"autoscaled":           {text: deploymentAMF + hpaV2, counts: map[string]int{"amf": 3}, want: map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "amf", Autoscaled: true}}},
		"autoscaled stopped":   {text: deploymentAMF + hpaV2, counts: map[string]int{"amf": 0}, stopped: true, want: map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "amf", Autoscaled: true, Replicas: count(0)}}},
		"autoscaled by KEDA":   {text: deploymentAMF + keda, counts: map[string]int{"amf": 3}, want: map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "amf", Autoscaled: true}}},
		"autoscaler elsewhere": {text: deploymentAMF + other, counts: map[string]int{"amf": 3}, want: map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "amf", Replicas: count(3)}}},
		"pod twice":            {text: pod, counts: map[string]int{"amf": 2}, problem: `a.yaml:2:1: VDU "amf" is a Pod and cannot have 2 instances: a Pod is one instance; a Deployment or StatefulSet can be scaled`},
		"stopped daemon":       {text: daemon, counts: map[string]int{"amf": 0}, stopped: true, problem: `VDU "amf" cannot be stopped: apps/v1/DaemonSet amf has no replicas that could be zero`},
		"no workload":          {text: deploymentAMF, counts: map[string]int{"smf": 1}, problem: `VDU "smf" has no workload: there is no Deployment, StatefulSet, DaemonSet, ReplicaSet or Pod named "smf": the workloads of the package are apps/v1/Deployment amf; the name of the VDU (properties.name in the VNFD) or vdu_mapping says which one it is`},
		"no workload at all":   {text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: smf}\n", counts: map[string]int{"smf": 1}, problem: `VDU "smf" has no workload: there is no Deployment, StatefulSet, DaemonSet, ReplicaSet or Pod named "smf": the manifests hold no workload; the name of the VDU (properties.name in the VNFD) or vdu_mapping says which one it is`},
		"shared": {text: deploymentAMF, counts: map[string]int{"amf": 1, "smf": 1}, params: map[string]any{"vdu_mapping": map[string]any{"smf": map[string]any{"kind": "Deployment", "name": "amf"}}},
			problem: `a.yaml:1:1: VDUs "amf" and "smf" are both apps/v1/Deployment amf: every VDU needs a workload of its own; vdu_mapping can say which`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			target := targettest.Manifests(map[string]string{"a.yaml": tt.text}, tt.counts)
			target.Instance.AdditionalParams = tt.params
			if tt.stopped {
				target.Instance.OperationalState = vnfm.Stopped
			}
			preview, ps := new(Renderings).Preview(t.Context(), target)
			if tt.problem != "" {
				require.Len(t, ps, 1)
				assert.Equal(t, tt.problem, ps[0].String(), "problems")
				return
			}
			require.False(t, ps.HasErrors(), ps)
			assert.Equal(t, tt.want, preview.VDUs, "VDUs")
		})
	}
}

// TestPickedManifests: if a request selects manifests, a VDU without a workload in the selection has no VNFC. A workload in
// vdu_mapping must be in the selection.
func TestPickedManifests(t *testing.T) {
	files := map[string]string{"a.yaml": deploymentAMF, "b.yaml": deploymentAMF2("smf"), "c.yaml": deploymentAMF2("upf")}
	target := targettest.Manifests(files, map[string]int{"amf": 1, "smf": 2, "upf": 3})
	target.Instance.AdditionalParams = map[string]any{"lcm-kubernetes-def-files": []any{"b.yaml"}}
	preview, ps := new(Renderings).Preview(t.Context(), target)
	require.False(t, ps.HasErrors(), ps)
	require.Len(t, ps, 1)
	require.Equal(t, `additional parameter "lcm-kubernetes-def-files" picks no workload for VDUs "amf", "upf": they have no VNFC: `+
		"add what holds their workloads, or name the workloads in vdu_mapping if they have other names than their VDUs", ps[0].String())
	want := map[string]vnfm.VDUState{"amf": {Replicas: count(0)}, "smf": {Kind: "Deployment", Name: "smf", Replicas: count(2)}, "upf": {Replicas: count(0)}}
	assert.Equal(t, want, preview.VDUs, "VDUs")

	target.Instance.AdditionalParams["vdu_mapping"] = map[string]any{"amf": map[string]any{"kind": "Deployment", "name": "amf"}}
	_, ps = new(Renderings).Preview(t.Context(), target)
	require.ErrorContains(t, ps.Err(), `VDU "amf" is mapped to Deployment "amf", which is not in the package`)
}

// TestWorkloadsOfAChartForTacker: charts for Tacker name a workload after its VDU and the release.
func TestWorkloadsOfAChartForTacker(t *testing.T) {
	target := targettest.Chart(map[string]string{"templates/a.yaml": deploymentAMF2("amf-{{ .Release.Name }}")}, map[string]int{"amf": 2})
	preview, ps := new(Renderings).Preview(t.Context(), target)
	require.False(t, ps.HasErrors(), ps)
	assert.Equal(t, map[string]vnfm.VDUState{"amf": {Kind: "Deployment", Name: "amf-core-1", Replicas: count(2)}}, preview.VDUs, "VDUs")
}

func deploymentAMF2(name string) string {
	return "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\nspec: {replicas: 1}\n"
}

func TestReplicasAreLeftOutOfTheManifest(t *testing.T) {
	text := deploymentAMF + "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: helper}\nspec: {replicas: 2}\n"
	target := targettest.Manifests(map[string]string{"a.yaml": text}, map[string]int{"amf": 3})
	r, ps := Render(budget.New(t.Context(), budget.Limits{}), target)
	require.False(t, ps.HasErrors(), ps)
	if r.Objects[0].Field("spec", "replicas") != nil {
		t.Error("the workload of a VDU keeps its replicas")
	}
	if r.Objects[1].Field("spec", "replicas") != int64(2) || r.Objects[1].Scaling != nil {
		t.Errorf("a workload that is no VDU has replicas %v, scaling %v", r.Objects[1].Field("spec", "replicas"), r.Objects[1].Scaling)
	}
	first, _ := new(Renderings).Preview(t.Context(), target)
	target.Counts["amf"] = 9
	second, _ := new(Renderings).Preview(t.Context(), target)
	assert.Equal(t, first.Objects, second.Objects, "scaling changes digests")
}

// TestReplicasOfAnAutoscaler: an autoscaler owns the replicas of its workload even if the manifest has replicas. A new object starts
// with the replicas in the manifest.
func TestReplicasOfAnAutoscaler(t *testing.T) {
	t.Parallel()
	hpa := "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"
	for spec, want := range map[string]*int64{"{replicas: 4, paused: true}": new(int64(4)), "{paused: true}": nil} {
		text := strings.Replace(deploymentAMF2("web"), "{replicas: 1}", spec, 1)
		r, ps := Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": text + hpa}, nil))
		require.False(t, ps.HasErrors(), ps)
		o := r.Objects[0]
		require.False(t, o.Scaling.DriverOwned(), spec)
		require.Equal(t, want, o.Scaling.Initial(), spec)
		require.Equal(t, map[string]any{"paused": true}, o.Field("spec"), spec)

		// An autoscaler outside the package changes neither the object nor its digest.
		r, ps = Render(budget.New(t.Context(), budget.Limits{}), targettest.Manifests(map[string]string{"a.yaml": text}, nil))
		require.False(t, ps.HasErrors(), ps)
		o = r.Objects[0]
		left := o.LeftToAutoscaler(true)
		require.True(t, left.Scaling.FromZero, spec)
		require.Equal(t, want, left.Scaling.Initial(), spec)
		require.Equal(t, map[string]any{"paused": true}, left.Field("spec"), spec)
		require.Equal(t, o.Digest, left.Digest, spec)
		require.Nil(t, o.Scaling, spec)
		_, written := o.Replicas()
		require.Equal(t, want, written, spec)
	}
}
