package kubernetes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// manyOfAKind are workloads of two kinds with the ConfigMaps that their pods read.
func manyOfAKind() map[string]string {
	files := map[string]string{}
	for i := range 4 {
		files[fmt.Sprintf("%d.yaml", i)] = strings.ReplaceAll(`
apiVersion: v1
kind: ConfigMap
metadata: {name: c-INDEX}
data: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d-INDEX}
spec:
  replicas: 2
  selector: {matchLabels: {app: d-INDEX}}
  template: {metadata: {labels: {app: d-INDEX}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: a, image: example.org/a, envFrom: [{configMapRef: {name: c-INDEX}}]}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s-INDEX}
spec:
  serviceName: s-INDEX
  selector: {matchLabels: {app: s-INDEX}}
  template: {metadata: {labels: {app: s-INDEX}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: a, image: example.org/a, envFrom: [{configMapRef: {name: c-INDEX}}]}]}}
`, "INDEX", fmt.Sprint(i))
	}
	return files
}

// TestLabTerminationOrder: the objects that pods use are deleted after the pods, singly or, for a kind with more objects than concurrent
// requests, with one request. The order holds even with credentials that may neither list pods nor delete collections.
func TestLabTerminationOrder(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		resources []string
		// workers is the number of concurrent requests.
		workers int
		// want is the number of requests that delete three ConfigMaps.
		want int
	}{
		"all rights":       {workers: 16, want: 3},
		"many of one kind": {workers: 2, want: 1},
		"no pods and no many at one time": {
			resources: []string{"configmaps", "deployments.apps", "statefulsets.apps", "leases.coordination.k8s.io", "secrets", "persistentvolumeclaims"},
			workers:   2,
			want:      4, // One attempt for all, and one for each that goes.
		},
	} {
		resources := tc.resources
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, manyOfAKind(), nil)
			if resources != nil {
				l.kubectl("create", "serviceaccount", "operator")
				l.kubectl("create", "role", "operator", "--verb=get,list,watch,create,update,patch,delete", "--resource="+strings.Join(resources, ","))
				l.kubectl("create", "rolebinding", "operator", "--role=operator", "--serviceaccount="+l.namespace+":operator")
				l.target.Credentials = vnfm.Credentials{vnfm.CredentialBearerToken: vnfm.Secret(strings.TrimSpace(l.kubectl("create", "token", "operator")))}
			}
			l.apply()
			// One object is foreign and of a kind that is deleted by label, the other stays by its policy.
			l.kubectl("create", "configmap", "foreign")
			l.kubectl("annotate", "configmap", "c-3", render.AnnotationResourcePolicy+"="+render.PolicyKeep)
			left, saves := make(chan string, 100), l.recorder.saves
			l.meter.take()
			l.target.Concurrency = tc.workers
			l.driver = New(kube.NewPool("terraform-provider-vnf/test"))
			l.meter.hook(func(method, path string) {
				if method == "DELETE" && strings.Contains(path, "/configmaps") {
					left <- l.kubectl("get", "pods", "-o", "name")
				}
			})
			l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
			l.meter.hook(nil)
			close(left)
			assert.Equal(t, 1, l.recorder.saves-saves, "the inventory, which had everything, was saved")
			deletions := 0
			for pods := range left {
				deletions++
				assert.Empty(t, pods, "pods were there when their configuration went")
			}
			assert.Equal(t, tc.want, deletions, "%d requests removed ConfigMaps, want %d:\n%s", deletions, tc.want, strings.Join(l.meter.take(), "\n"))
			assert.Empty(t, l.labelled(), "left behind")
			if got := strings.Join(strings.Fields(l.kubectl("get", "configmaps,pods,replicasets", "-o", "name")), " "); got != "configmap/c-3 configmap/foreign configmap/kube-root-ca.crt" {
				t.Errorf("what stays is %s", got)
			}
		})
	}
}

// TestLabPartsOnOneCluster terminates the parts of an instance on two VIMs that are one cluster. Each termination removes only its own
// objects and namespace.
func TestLabPartsOnOneCluster(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{
		"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
	}, nil)
	part := func(namespace string, p vnfm.Part) *lab {
		instance, target, of := *l.target.Instance, *l.target, *l
		instance.Namespace, target.Instance, target.Part = namespace, &instance, &p
		of.namespace, of.target, of.recorder = namespace, &target, &recorder{instance: &instance, notes: map[string]string{}}
		l.deleteAtEnd("v1", "Namespace", namespace)
		of.apply()
		return &of
	}
	parts := []*lab{part(l.namespace+"-own", vnfm.Part{Rest: true, Manifests: []string{"b.yaml"}}), part(l.namespace+"-far", vnfm.Part{Manifests: []string{"b.yaml"}})}
	spec := vnfm.TerminateSpec{Type: vnfm.Forceful, LeftBehind: func(object, reason string) { t.Errorf("left behind: %s: %s", object, reason) }}
	parts[1].terminate(spec)
	parts[0].inSync()
	assert.Empty(t, l.env.Kubectl(t, "get", "namespace", parts[1].namespace, "--ignore-not-found", "-o", "name"))
	parts[0].terminate(spec)
	assert.Empty(t, l.env.Kubectl(t, "get", "namespace", parts[0].namespace, "--ignore-not-found", "-o", "name"))
}
