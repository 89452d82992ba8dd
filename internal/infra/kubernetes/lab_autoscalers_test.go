package kubernetes

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const hpaManifest = `---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: amf, annotations: {lab.vnf/desired-replicas: "5"}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: amf}
  minReplicas: 1
  maxReplicas: 9
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`

func TestLabAutoscaler(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"core.yaml": coreManifests + hpaManifest}, map[string]int{"amf": 2})
	l.apply()
	l.eventually("the autoscaler sets 5 replicas", func() bool { return l.replicas("amf") == 5 })
	l.inSync()

	seen := l.watchReplicas("amf")
	changed := strings.Replace(coreManifests, "example.org/amf:1", "example.org/amf:2", 1)
	// The autoscaler is the same object in another version of its API.
	former := l.kubectl("get", "hpa", "amf", "-o", "jsonpath={.metadata.uid}")
	older := strings.NewReplacer("autoscaling/v2", "autoscaling/v1", "  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]", "  targetCPUUtilizationPercentage: 50")
	l.setFiles("2", map[string]string{"core.yaml": changed + older.Replace(hpaManifest)})
	l.apply()
	l.inSync()
	assert.Equal(t, former, l.kubectl("get", "hpa", "amf", "-o", "jsonpath={.metadata.uid}"))
	if counts := seen(); len(counts) != 1 || !counts[5] {
		t.Errorf("the replicas were %v while the package was changed", slices.Sorted(maps.Keys(counts)))
	}

	// Without the autoscaler the count of the VDU applies again.
	l.setFiles("3", map[string]string{"core.yaml": changed})
	l.apply()
	l.inSync()
	assert.Equal(t, 2, l.replicas("amf"))
	// With the autoscaler again, the count stays until the autoscaler changes it.
	seen = l.watchReplicas("amf")
	changed = strings.Replace(coreManifests, "example.org/amf:1", "example.org/amf:3", 1)
	l.setFiles("4", map[string]string{"core.yaml": changed + hpaManifest})
	l.apply()
	l.eventually("the autoscaler sets 5 replicas", func() bool { return l.replicas("amf") == 5 })
	l.inSync()
	if counts := seen(); counts[1] || counts[0] || counts[9] {
		t.Errorf("the replicas were %v while the autoscaler took over", slices.Sorted(maps.Keys(counts)))
	}
}

// TestLabIdleAutoscaler changes a package whose autoscaler has not written any replicas yet. The number of the first apply stays.
func TestLabIdleAutoscaler(t *testing.T) {
	t.Parallel()
	idle := strings.Replace(hpaManifest, `lab.vnf/desired-replicas: "5"`, `idle: "yes"`, 1)
	l := newLab(t, map[string]string{"core.yaml": coreManifests + idle}, map[string]int{"amf": 3})
	l.apply()
	l.inSync()
	seen := l.watchReplicas("amf")
	for _, version := range []string{"2", "3"} {
		l.setFiles(version, map[string]string{"core.yaml": strings.Replace(coreManifests, "amf:1", "amf:"+version, 1) + idle})
		l.apply()
		l.inSync()
	}
	if counts := seen(); len(counts) != 1 || !counts[3] {
		t.Errorf("the replicas were %v while the package was changed", slices.Sorted(maps.Keys(counts)))
	}
}

const webManifest = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: example.org/web:1}]}
`

// TestLabAutoscalerOfOthers: a foreign autoscaler sets the replicas of a VDU and of another workload until it is deleted, with a
// warning. A VDU can still be stopped.
func TestLabAutoscalerOfOthers(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"core.yaml": coreManifests + webManifest}, map[string]int{"amf": 2})
	var said vnfm.Problems
	l.target.Warn = func(p vnfm.Problem) { said = append(said, p) }
	warned := func(of ...string) {
		t.Helper()
		require.Len(t, said, 1)
		lines := strings.Split(said[0].Detail, "\n")
		require.Equal(t, of, lines[:len(lines)-1])
		said = nil
	}
	const amf, web = "apps/v1/Deployment amf: autoscaling/v2/HorizontalPodAutoscaler NAMESPACE/amf", "apps/v1/Deployment web: autoscaling/v2/HorizontalPodAutoscaler NAMESPACE/web"
	in := func(line string) string { return strings.ReplaceAll(line, "NAMESPACE", l.namespace) }
	l.apply()
	l.kubectl("create", "-f", l.file(hpaManifest+strings.ReplaceAll(strings.ReplaceAll(hpaManifest, "name: amf", "name: web"), `"5"`, `"6"`)))
	l.eventually("the autoscalers set the replicas", func() bool { return l.replicas("amf") == 5 && l.replicas("web") == 6 })
	l.inSync()
	said = l.observe().Warnings
	warned(in(amf), in(web))

	seenAMF, seenWeb := l.watchReplicas("amf"), l.watchReplicas("web")
	l.apply()
	warned(in(amf), in(web))
	version := func(v string) string {
		return strings.NewReplacer("org/amf:1", "org/amf:"+v, "org/web:1", "org/web:"+v).Replace(coreManifests + webManifest)
	}
	l.setFiles("2", map[string]string{"core.yaml": version("2")})
	planned, err := l.driver.DryRun(l.ctx, l.target, slices.Collect(maps.Keys(l.preview().Objects)))
	require.NoError(t, err)
	require.Empty(t, planned)
	l.apply()
	warned(in(amf), in(web))
	l.inSync()
	l.target.Counts["amf"] = 3
	require.NoError(t, l.driver.Scale(l.ctx, l.target, l.recorder))
	warned(in(amf))
	l.inSync()
	for name, seen := range map[string]map[int]bool{"amf": seenAMF(), "web": seenWeb()} {
		require.Len(t, seen, 1, "the replicas of %s were %v", name, slices.Sorted(maps.Keys(seen)))
	}

	// A real autoscaler leaves a target with no replicas alone; the lab's does not.
	l.kubectl("annotate", "hpa", "amf", "web", "lab.vnf/desired-replicas-")
	l.target.Counts["amf"], l.target.Instance.OperationalState = 0, vnfm.Stopped
	require.NoError(t, l.driver.Scale(l.ctx, l.target, l.recorder))
	require.Equal(t, 0, l.replicas("amf"))
	require.Empty(t, said)
	l.target.Counts["amf"], l.target.Instance.OperationalState = 3, vnfm.Started
	require.NoError(t, l.driver.Scale(l.ctx, l.target, l.recorder))
	require.Equal(t, 3, l.replicas("amf"))

	said = nil
	l.kubectl("delete", "hpa", "amf", "web")
	l.apply()
	l.inSync()
	require.Empty(t, said)
	require.Equal(t, []int{3, 4}, []int{l.replicas("amf"), l.replicas("web")})

	// The package leaves the replicas of a workload without a VDU to the autoscaler. They stay until the autoscaler changes them.
	idle := strings.ReplaceAll(strings.ReplaceAll(hpaManifest, "name: amf", "name: web"), `lab.vnf/desired-replicas: "5"`, `idle: "yes"`)
	seenWeb = l.watchReplicas("web")
	for _, v := range []string{"3", "4"} {
		l.setFiles(v, map[string]string{"core.yaml": strings.Replace(version(v), "  replicas: 4\n", "", 1) + idle})
		l.apply()
		l.inSync()
	}
	require.Equal(t, map[int]bool{4: true}, seenWeb())
	require.Empty(t, said)
}
