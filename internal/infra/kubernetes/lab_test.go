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
			map[string]string{"v1/ConfigMap amf-config": "drifted: data.plmn (changed by kubectl-patch)"}, 1},
		{"value set and set back", [][]string{{"patch", "configmap", "amf-config", "-p", `{"data":{"plmn":"99999"}}`}, {"patch", "configmap", "amf-config", "-p", `{"data":{"plmn":"00101"}}`}}, map[string]string{}, 1},
		{"label removed", [][]string{{"label", "configmap", "amf-config", "tier-"}}, map[string]string{"v1/ConfigMap amf-config": "drifted: metadata.labels.tier"}, 1},
		{"own label removed", [][]string{{"label", "secret", "amf-key", labelInstance + "-"}},
			map[string]string{"v1/Secret amf-key": "drifted: metadata.labels." + labelInstance}, 1},
		{"own digest removed", [][]string{{"annotate", "secret", "amf-key", annotationDigest + "-"}},
			map[string]string{"v1/Secret amf-key": "drifted: metadata.annotations." + annotationDigest}, 1},
		{"Secret value", [][]string{{"patch", "secret", "amf-key", "-p", `{"stringData":{"key":"other-secret"}}`}},
			map[string]string{"v1/Secret amf-key": "drifted: data.key (changed by kubectl-patch)"}, 1},
		{"Service deleted", [][]string{{"delete", "service", "amf"}}, map[string]string{"v1/Service amf": ""}, 1},
		{"Service port", [][]string{{"patch", "service", "amf", "-p", `{"spec":{"ports":[{"name":"sbi","port":80,"targetPort":9090}]}}`}},
			map[string]string{"v1/Service amf": "drifted: spec.ports[port=80,protocol=TCP].targetPort (changed by kubectl-patch)"}, 1},
		{"Service selector", [][]string{{"patch", "service", "amf", "-p", `{"spec":{"selector":{"more":"x"}}}`}},
			map[string]string{"v1/Service amf": "drifted: spec.selector.more (changed by kubectl-patch)"}, 1},
		{"Role rules", [][]string{{"patch", "role", "amf", "--type=json", "-p", `[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}}]`}},
			map[string]string{"rbac.authorization.k8s.io/v1/Role amf": "drifted: rules (changed by kubectl-patch)"}, 1},
		{"image and argument", [][]string{{"set", "image", "deployment/amf", "amf=example.org/amf:9"}, {"patch", "deployment", "amf", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"amf","args":["-x"]}]}}}}`}},
			map[string]string{"apps/v1/Deployment amf": "drifted: spec.template.spec.containers[name=amf].args, spec.template.spec.containers[name=amf].image (changed by kubectl-patch, kubectl-set)"}, 1},
		{"environment", [][]string{{"set", "env", "deployment/amf", "A-"}},
			map[string]string{"apps/v1/Deployment amf": "drifted: spec.template.spec.containers[name=amf].env[name=A]"}, 1},
		{"same quantity", [][]string{{"patch", "deployment", "amf", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"amf","resources":{"limits":{"memory":"1Gi"}}}]}}}}`}}, map[string]string{}, 1},
		{"sidecar", [][]string{{"patch", "deployment", "amf", "-p", `{"spec":{"template":{"spec":{"containers":[{"name":"foreign","image":"x"}]}}}}`}}, map[string]string{}, 1},
		{"scaled", [][]string{{"scale", "deployment", "amf", "--replicas=3"}}, map[string]string{"apps/v1/Deployment amf": "drifted: spec.replicas is 3, not 1 (changed by lab-kubectl)"}, 3},
		{"NetworkPolicy", [][]string{{"patch", "networkpolicy", "amf", "-p", `{"spec":{"podSelector":{"matchLabels":{"app":"x"}}}}`}},
			map[string]string{"networking.k8s.io/v1/NetworkPolicy amf": "drifted: spec.podSelector.matchLabels (changed by kubectl-patch)"}, 1},
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
	// Two objects change, one is new, one is removed, and the replicas get another owner.
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
		"ConfigMap " + l.namespace + "/amf-config", "ServiceAccount " + l.namespace + "/amf",
		"written by kubectl-create", " belongs to no VNF instance: it existed before; remove it, or set adopt_existing to take it over",
		"Service " + l.namespace + "/amf", " belongs to VNF instance i-other: an object can belong to one instance only",
	}
	l.dryRunConflicts(conflicts)
	err := l.driver.Apply(l.ctx, l.target, l.recorder)
	require.Error(t, err, "objects of others were taken over")
	for _, want := range conflicts {
		require.ErrorContains(t, err, want, "the error does not say")
	}
	require.Equal(t, 1, strings.Count(err.Error(), "belongs to no VNF instance"), "one sentence is for all objects of one owner")
	if w := writes(l.meter.take()); len(w) > 0 || l.recorder.saves > 0 {
		t.Errorf("written although there are conflicts: %v, %d saves", w, l.recorder.saves)
	}
	l.target.AdoptExisting = true
	require.ErrorContains(t, l.driver.Apply(l.ctx, l.target, l.recorder), "i-other", "an object of another instance was adopted")
	l.kubectl("delete", "service", "amf")
	require.ErrorContains(t, l.driver.Apply(l.ctx, l.target, l.recorder), `.data.plmn (owned by "kubectl-create")`, "a field of another manager was taken over")
	// Adopted objects outlive a failed creation.
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
