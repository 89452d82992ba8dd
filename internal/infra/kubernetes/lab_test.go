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

const coreManifests = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: amf}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: amf-config, labels: {tier: control}}
data: {plmn: "00101", empty: ""}
---
apiVersion: v1
kind: Secret
metadata: {name: amf-key}
stringData: {key: planted-secret-value}
---
apiVersion: v1
kind: Service
metadata: {name: amf}
spec:
  selector: {app: amf}
  ports:
  - {name: sbi, port: 80, targetPort: 8080}
  - {name: ngap, port: 38412, protocol: SCTP}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: amf}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: amf}
spec:
  podSelector: {}
  policyTypes: [Ingress]
  ingress: [{}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: amf, labels: {}, annotations: {}}
spec:
  replicas: 9
  selector: {matchLabels: {app: amf}}
  strategy: {}
  template:
    metadata: {labels: {app: amf}}
    spec:
      serviceAccountName: amf
      terminationGracePeriodSeconds: 1
      securityContext: {}
      containers:
      - name: amf
        image: example.org/amf:1
        args: ["-c", "/etc/amf"]
        env: [{name: A, value: "1"}, {name: EMPTY, value: ""}]
        ports: [{containerPort: 8080}, {containerPort: 38412, protocol: SCTP}]
        resources: {requests: {cpu: 1000m, memory: 0.5Gi}, limits: {cpu: "1", memory: 1024Mi}}
        volumeMounts: [{name: tmp, mountPath: /tmp}, {name: config, mountPath: /etc/amf}]
      volumes:
      - {name: tmp, emptyDir: {}}
      - {name: config, configMap: {name: amf-config}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: amf}
spec: {minAvailable: 1, selector: {matchLabels: {app: amf}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: report}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: report, image: example.org/report}]}}}}
`

func coreFiles() map[string]string { return map[string]string{"core.yaml": coreManifests} }

func TestLabLife(t *testing.T) {
	t.Parallel()
	l := newLab(t, coreFiles(), map[string]int{"amf": 2})
	l.recorder.firstSave = func() {
		assert.Empty(t, writes(l.meter.take()), "written before the inventory was saved")
	}
	l.apply()
	objects := len(l.preview().Objects)
	assert.LessOrEqual(t, len(l.meter.take()), objects+30, "the first apply of %d objects took", objects)
	assert.Len(t, l.target.Instance.Inventory, objects, "the inventory has")
	for _, item := range l.target.Instance.Inventory {
		require.NotEmpty(t, item.UID)
		assert.Equal(t, l.namespace, item.Namespace, "inventory entry %+v", item)
	}
	l.inSync()
	kinds := 9
	assert.LessOrEqual(t, len(l.meter.take()), 10+kinds, "an observation without drift took")
	l.apply()
	requests := l.meter.take()
	assert.Empty(t, writes(requests), "an apply of what is there wrote")
	n := len(requests)
	assert.LessOrEqual(t, n, 10+kinds, "an apply of what is there took %d requests: %v", n, requests)

	has, err := l.driver.Resources(l.ctx, l.target)
	require.NoError(t, err)
	require.Len(t, has.VNFCs, 2, "resources: %v", has)
	for _, c := range has.VNFCs {
		if c.VDUID != "amf" || !c.Ready || c.State != "Running" || c.Node == "" || len(c.Addresses) == 0 || c.ID != "amf-"+c.Resource || c.Namespace != l.namespace {
			t.Errorf("VNFC %+v", c)
		}
	}

	l.target.Counts["amf"] = 4
	l.meter.take()
	require.NoError(t, l.driver.Scale(l.ctx, l.target, l.recorder))
	assert.Len(t, writes(l.meter.take()), 1, "a scale wrote")
	assert.Equal(t, 4, l.replicas("amf"))
	l.inSync()

	l.meter.take()
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	assert.LessOrEqual(t, len(l.meter.take()), objects+kinds+10, "a termination of %d objects took", objects)
	assert.Empty(t, l.labelled(), "left behind")
	assert.Empty(t, l.target.Instance.Inventory, "inventory after the end")
	got := l.observe()
	assert.Zero(t, len(got.Objects)+len(got.VDUs), "observed after the end: %+v", got)
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
}

func TestLabDrift(t *testing.T) {
	t.Parallel()
	l := newLab(t, coreFiles(), map[string]int{"amf": 1})
	l.apply()
	tests := []struct {
		name string
		edit [][]string
		want map[string]string
		vdus int
	}{
		{"foreign label", [][]string{{"label", "configmap", "amf-config", "foreign=1"}, {"annotate", "deployment", "amf", "foreign=1"}}, map[string]string{}, 1},
		{"ConfigMap value", [][]string{{"patch", "configmap", "amf-config", "-p", `{"data":{"plmn":"99999","added":"x"}}`}},
			map[string]string{"v1/ConfigMap amf-config": "drifted: data.plmn"}, 1},
		{"value set and set back", [][]string{{"patch", "configmap", "amf-config", "-p", `{"data":{"plmn":"99999"}}`}, {"patch", "configmap", "amf-config", "-p", `{"data":{"plmn":"00101"}}`}}, map[string]string{}, 1},
		{"label removed", [][]string{{"label", "configmap", "amf-config", "tier-"}}, map[string]string{"v1/ConfigMap amf-config": "drifted: metadata.labels.tier"}, 1},
		{"own label removed", [][]string{{"label", "secret", "amf-key", labelInstance + "-"}},
			map[string]string{"v1/Secret amf-key": "drifted: metadata.labels." + labelInstance}, 1},
		{"own digest removed", [][]string{{"annotate", "secret", "amf-key", annotationDigest + "-"}},
			map[string]string{"v1/Secret amf-key": "drifted: metadata.annotations." + annotationDigest}, 1},
		{"Secret value", [][]string{{"patch", "secret", "amf-key", "-p", `{"stringData":{"key":"other-secret"}}`}},
			map[string]string{"v1/Secret amf-key": "drifted: data.key"}, 1},
		{"Service deleted", [][]string{{"delete", "service", "amf"}}, map[string]string{"v1/Service amf": ""}, 1},
		{"Service port", [][]string{{"patch", "service", "amf", "-p", `{"spec":{"ports":[{"name":"sbi","port":80,"targetPort":9090}]}}`}},
			map[string]string{"v1/Service amf": "drifted: spec.ports[port=80,protocol=TCP].targetPort"}, 1},
		{"Service selector", [][]string{{"patch", "service", "amf", "-p", `{"spec":{"selector":{"more":"x"}}}`}},
			map[string]string{"v1/Service amf": "drifted: spec.selector.more"}, 1},
		{"Role rules", [][]string{{"patch", "role", "amf", "--type=json", "-p", `[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}}]`}},
			map[string]string{"rbac.authorization.k8s.io/v1/Role amf": "drifted: rules"}, 1},
		{"image and argument", [][]string{{"set", "image", "deployment/amf", "amf=example.org/amf:9"}, {"patch", "deployment", "amf", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"amf","args":["-x"]}]}}}}`}},
			map[string]string{"apps/v1/Deployment amf": "drifted: spec.template.spec.containers[name=amf].args, spec.template.spec.containers[name=amf].image"}, 1},
		{"environment", [][]string{{"set", "env", "deployment/amf", "A-"}},
			map[string]string{"apps/v1/Deployment amf": "drifted: spec.template.spec.containers[name=amf].env[name=A]"}, 1},
		{"same quantity", [][]string{{"patch", "deployment", "amf", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"amf","resources":{"limits":{"memory":"1Gi"}}}]}}}}`}}, map[string]string{}, 1},
		{"sidecar", [][]string{{"patch", "deployment", "amf", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"foreign","image":"x"}]}}}}`}}, map[string]string{}, 1},
		{"scaled", [][]string{{"scale", "deployment", "amf", "--replicas=3"}}, map[string]string{"apps/v1/Deployment amf": "drifted: spec.replicas"}, 3},
		{"NetworkPolicy", [][]string{{"patch", "networkpolicy", "amf", "-p", `{"spec":{"podSelector":{"matchLabels":{"app":"x"}}}}`}},
			map[string]string{"networking.k8s.io/v1/NetworkPolicy amf": "drifted: spec.podSelector.matchLabels"}, 1},
		{"workload deleted", [][]string{{"delete", "deployment", "amf"}}, map[string]string{"apps/v1/Deployment amf": ""}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l.t = t
			for _, args := range tt.edit {
				l.kubectl(args...)
			}
			l.expectDrift(tt.want)
			got := l.observe()
			for _, text := range got.Objects {
				for _, value := range []string{"99999", "other-secret", "planted-secret-value"} {
					assert.NotContains(t, text, value, "a value is shown")
				}
			}
			if tt.vdus == 0 {
				assert.Empty(t, got.VDUs, "VDUs")
			} else if n := *got.VDUs["amf"].Replicas; n != tt.vdus {
				t.Errorf("VDU has %d replicas, want %d", n, tt.vdus)
			}
			l.apply()
			l.inSync()
			l.meter.take()
			l.apply()
			assert.Empty(t, writes(l.meter.take()), "an apply after the repair wrote")
		})
	}
}

func TestLabChange(t *testing.T) {
	t.Parallel()
	l := newLab(t, coreFiles(), map[string]int{"amf": 2})
	l.apply()
	old := l.preview().Objects
	changed := strings.Replace(coreManifests, `plmn: "00101"`, `plmn: "00102"`, 1)
	changed = strings.Replace(changed, "example.org/amf:1", "example.org/amf:2", 1)
	changed = strings.Replace(changed, "kind: PodDisruptionBudget\nmetadata: {name: amf}", "kind: PodDisruptionBudget\nmetadata: {name: amf-renamed}", 1)
	l.setFiles("2", map[string]string{"core.yaml": changed})
	l.expectDrift(map[string]string{
		"v1/ConfigMap amf-config":                   old["v1/ConfigMap amf-config"],
		"apps/v1/Deployment amf":                    old["apps/v1/Deployment amf"],
		"policy/v1/PodDisruptionBudget amf-renamed": "",
	})
	l.meter.take()
	seen := l.watchReplicas("amf")
	l.apply()
	requests := l.meter.take()
	if counts := seen(); len(counts) != 1 || !counts[2] {
		t.Errorf("the replicas were %v while the package was changed", slices.Sorted(maps.Keys(counts)))
	}
	// Two changed, one new, one removed; the replicas change their owner.
	assert.Len(t, writes(requests), 5, "the change wrote")
	l.inSync()
	assert.Equal(t, 2, l.replicas("amf"))
	assert.NotContains(t, l.kubectl("get", "pdb", "-o", "name"), "/amf\n", "the object that the package does not have any more is still there")
	n, want := len(l.target.Instance.Inventory), len(l.preview().Objects)
	assert.Equal(t, want, n, "the inventory has")
	// The unchanged objects keep the package that last changed them.
	assert.Contains(t, l.kubectl("get", "serviceaccount", "amf", "-o", "jsonpath={.metadata.annotations}"), "core@sha256:1", "annotations of an unchanged object")
}

func TestLabConflicts(t *testing.T) {
	t.Parallel()
	l := newLab(t, coreFiles(), map[string]int{"amf": 1})
	l.kubectl("create", "configmap", "amf-config", "--from-literal=plmn=1")
	l.kubectl("create", "serviceaccount", "amf")
	l.kubectl("create", "service", "clusterip", "amf", "--tcp=80")
	l.kubectl("label", "service", "amf", labelInstance+"=i-other")
	conflicts := []string{
		"ConfigMap " + l.namespace + "/amf-config belongs to no VNF instance (written by kubectl-create): it existed before; remove it, or set adopt_existing to take it over",
		"ServiceAccount " + l.namespace + "/amf belongs to no VNF instance",
		"Service " + l.namespace + "/amf belongs to VNF instance i-other: an object can belong to one instance only",
	}
	l.dryRunConflicts(conflicts)
	err := l.driver.Apply(l.ctx, l.target, l.recorder)
	require.Error(t, err, "objects of others were taken over")
	for _, want := range conflicts {
		require.ErrorContains(t, err, want, "the error does not say")
	}
	if w := writes(l.meter.take()); len(w) > 0 || l.recorder.saves > 0 {
		t.Errorf("written although there are conflicts: %v, %d saves", w, l.recorder.saves)
	}
	l.target.AdoptExisting = true
	require.ErrorContains(t, l.driver.Apply(l.ctx, l.target, l.recorder), "i-other", "an object of another instance was adopted")
	l.kubectl("delete", "service", "amf")
	require.ErrorContains(t, l.driver.Apply(l.ctx, l.target, l.recorder), `.data.plmn (owned by "kubectl-create")`, "a field of another manager was taken over")
	// Adopted objects outlive a creation that failed.
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful, Volumes: vnfm.VolumesDelete})
	assert.Equal(t, "1", l.kubectl("get", "configmap", "amf-config", "-o", "jsonpath={.data.plmn}"), "the adopted ConfigMap has the value")
	l.kubectl("get", "serviceaccount", "amf")
	assert.Empty(t, l.labelled(), "labelled objects after the rollback")
	l.target.ForceConflicts = true
	l.apply()
	l.inSync()
	l.target.AdoptExisting, l.target.ForceConflicts = false, false
	l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
	assert.Empty(t, l.kubectl("get", "configmap", "amf-config", "--ignore-not-found", "-o", "name"), "an object of the instance is left behind")
}

func TestLabUnknownKinds(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a.yaml": "apiVersion: example.org/v1\nkind: Cell\nmetadata: {name: a}\n---\napiVersion: apps/v1\nkind: Deploymnt\nmetadata: {name: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"}, nil)
	err := l.driver.Apply(l.ctx, l.target, l.recorder)
	require.Error(t, err, "unknown kinds were accepted")
	for _, want := range []string{"example.org/v1/Cell a (a.yaml:1)", "apps/v1/Deploymnt a (a.yaml:5)", "apps/v1 Deployment"} {
		require.ErrorContains(t, err, want, "the error does not say")
	}
	assert.Empty(t, writes(l.meter.take()), "written although a kind is unknown")
	got := l.observe()
	assert.Empty(t, got.Objects, "observed")
}

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
	l.setFiles("2", map[string]string{"core.yaml": changed + hpaManifest})
	l.apply()
	l.inSync()
	if counts := seen(); len(counts) != 1 || !counts[5] {
		t.Errorf("the replicas were %v while the package was changed", slices.Sorted(maps.Keys(counts)))
	}

	// Without the autoscaler the VDU's own count is back.
	l.setFiles("3", map[string]string{"core.yaml": changed})
	l.apply()
	l.inSync()
	assert.Equal(t, 2, l.replicas("amf"))
	// And the other way round: the count stays until the autoscaler changes it.
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

// TestLabIdleAutoscaler changes a package whose autoscaler has not written any
// replicas yet: the first apply's number is what it wants.
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

// TestLabAutoscalerOfOthers: an autoscaler that somebody else makes decides on the replicas of a VDU and of another workload, with a
// warning, until it goes. A VDU can be stopped.
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

	// The package hands the replicas of a workload over that is no VDU: they stay until the autoscaler changes them.
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
