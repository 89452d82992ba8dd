package kubernetes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/kubernetes/render"
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

// TestLabTerminationOrder removes what pods use only after the pods: with one request
// for each kind by somebody who may see pods and remove many objects at once, and
// also by somebody who may do neither.
func TestLabTerminationOrder(t *testing.T) {
	t.Parallel()
	for name, resources := range map[string][]string{
		"all rights":                      nil,
		"no pods and no many at one time": {"configmaps", "deployments.apps", "statefulsets.apps", "leases.coordination.k8s.io", "secrets", "persistentvolumeclaims"},
	} {
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
			// A foreign object of a kind that is removed by label, and one that stays.
			l.kubectl("create", "configmap", "foreign")
			l.kubectl("annotate", "configmap", "c-3", render.AnnotationResourcePolicy+"="+render.PolicyKeep)
			left := make(chan string, 100)
			l.meter.take()
			l.meter.hook(func(method, path string) {
				if method == "DELETE" && strings.Contains(path, "/configmaps") {
					left <- l.kubectl("get", "pods", "-o", "name")
				}
			})
			l.terminate(vnfm.TerminateSpec{Type: vnfm.Graceful})
			l.meter.hook(nil)
			close(left)
			deletions := 0
			for pods := range left {
				deletions++
				if pods != "" {
					t.Errorf("pods were there when their configuration went: %s", pods)
				}
			}
			want := 1
			if resources != nil {
				want = 4 // One attempt for all, and one for each that goes.
			}
			if deletions != want {
				t.Errorf("%d requests removed ConfigMaps, want %d:\n%s", deletions, want, strings.Join(l.meter.take(), "\n"))
			}
			if got := l.labelled(); len(got) > 0 {
				t.Errorf("left behind: %v", got)
			}
			if got := strings.Join(strings.Fields(l.kubectl("get", "configmaps,pods,replicasets", "-o", "name")), " "); got != "configmap/c-3 configmap/foreign configmap/kube-root-ca.crt" {
				t.Errorf("what stays is %s", got)
			}
		})
	}
}
