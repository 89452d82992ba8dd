package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/targettest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// share is how many objects of one kind there are, and how each is written.
type share struct {
	n    int
	text string
}

// manyKinds are a thousand objects of 25 kinds, from all API groups that a network function usually uses. GROUP is a placeholder, which
// the names of cluster-scoped objects contain.
var manyKinds = []share{
	{300, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {key: value of NAME}\n"},
	{100, "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\nstringData: {password: secret of NAME}\n"},
	{100, "apiVersion: v1\nkind: Service\nmetadata: {name: NAME}\nspec: {clusterIP: None, selector: {app: NAME}, ports: [{name: http, port: 80}]}\n"},
	{100, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: NAME}\n"},
	{5, "apiVersion: v1\nkind: LimitRange\nmetadata: {name: NAME}\nspec: {limits: [{type: PersistentVolumeClaim, max: {storage: 1Ti}}]}\n"},
	{5, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: NAME}\nspec: {storageClassName: GROUP-0, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"},
	{10, "apiVersion: v1\nkind: PodTemplate\nmetadata: {name: NAME}\ntemplate: {spec: {containers: [{name: main, image: example.org/NAME}]}}\n"},
	{10, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: NAME}\nspec: {selector: {matchLabels: {app: NAME}}, template: {metadata: {labels: {app: NAME}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: example.org/NAME, ports: [{name: http, containerPort: 80}]}]}}}\n"},
	{5, "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: NAME}\nspec: {serviceName: NAME, selector: {matchLabels: {app: NAME}}, template: {metadata: {labels: {app: NAME}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: example.org/NAME}]}}}\n"},
	{1, "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: NAME}\nspec: {selector: {matchLabels: {app: NAME}}, template: {metadata: {labels: {app: NAME}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: example.org/NAME}]}}}\n"},
	{20, "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: NAME}\nspec: {suspend: true, schedule: '0 0 1 1 *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.org/NAME}]}}}}}\n"},
	{2, "apiVersion: batch/v1\nkind: Job\nmetadata: {name: NAME}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: example.org/NAME}]}}}\n"},
	{60, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: NAME}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n"},
	{60, "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: NAME}\nroleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME}\nsubjects: [{kind: User, name: NAME}]\n"},
	{2, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: GROUP-INDEX}\nrules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n"},
	{60, "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: NAME}\nspec: {podSelector: {matchLabels: {app: NAME}}, policyTypes: [Ingress]}\n"},
	{20, "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: NAME}\nspec: {defaultBackend: {service: {name: NAME, port: {number: 80}}}}\n"},
	{20, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: NAME}\nspec: {maxUnavailable: 1, selector: {matchLabels: {app: NAME}}}\n"},
	{5, "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: NAME}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none-NAME}, maxReplicas: 3, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}\n"},
	{1, "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: GROUP-INDEX}\nprovisioner: GROUP.example.com\nvolumeBindingMode: WaitForFirstConsumer\n"},
	{1, "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: GROUP-INDEX}\nvalue: 10\n"},
	{10, "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: NAME}\naddressType: IPv4\nendpoints: [{addresses: [192.0.2.1]}]\nports: [{name: http, port: 80}]\n"},
	{2, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: loads-INDEX.GROUP.example.com}\nspec:\n  group: GROUP.example.com\n  scope: Namespaced\n  names: {kind: LoadINDEX, plural: loads-INDEX, singular: load-INDEX, listKind: LoadINDEXList}\n" +
		"  versions: [{name: v1, served: true, storage: true, subresources: {scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {count: {type: integer}}}, status: {type: object, properties: {count: {type: integer}}}}}}}]\n"},
	{51, "apiVersion: GROUP.example.com/v1\nkind: Load0\nmetadata: {name: NAME}\nspec: {count: 1}\n"},
	{50, "apiVersion: GROUP.example.com/v1\nkind: Load1\nmetadata: {name: NAME}\nspec: {count: 1}\n"},
}

// ofManyKinds writes the objects, one file each. Three workloads of each scalable
// kind are VDUs.
func ofManyKinds(group string) (files map[string]string, vdus map[string]int) {
	files, vdus = map[string]string{}, map[string]int{}
	for k, kind := range manyKinds {
		for i := range kind.n {
			name := fmt.Sprintf("o-%d-%d", k, i)
			files[name+".yaml"] = strings.NewReplacer("NAME", name, "INDEX", fmt.Sprint(i), "GROUP", group).Replace(kind.text)
			scalable := slices.ContainsFunc([]string{"\nkind: Deployment\n", "\nkind: StatefulSet\n", "\nkind: Load"}, func(text string) bool { return strings.Contains(kind.text, text) })
			if scalable && i < 3 {
				vdus[name] = 1
			}
		}
	}
	return files, vdus
}

// TestLabRefreshRequests limits a refresh to one request per kind, whatever the number of objects. The drift check of a thousand objects
// of 25 kinds, including the check of the VIM at the beginning of a plan, costs fewer than 30 requests.
func TestLabRefreshRequests(t *testing.T) {
	t.Parallel()
	const n, kinds = 1000, 25
	l := newLab(t, nil, nil)
	// Cluster-wide objects are named after the namespace, which is unique.
	files, vdus := ofManyKinds(l.namespace)
	require.Len(t, files, n)
	require.Len(t, manyKinds, kinds)
	l.setFiles("1", files)
	l.target.Flavour, l.target.Counts = targettest.Manifests(files, vdus).Flavour, vdus
	defer func() {
		// Some objects are cluster-scoped, so they are deleted even if the time of the test has ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), labTimeout)
		defer cancel()
		l.ctx = ctx
		l.terminate(vnfm.TerminateSpec{Type: vnfm.Forceful, Volumes: vnfm.VolumesDelete})
	}()
	l.apply()
	l.meter.take()

	// Another process has no discovery data.
	l.driver = New(kube.NewPool("terraform-provider-vnf/test"))
	vim := l.target.VIM
	known := vnfm.VIMSpec{Name: vim.Name, Type: vim.Type, Kubernetes: vim.Kubernetes, Credentials: l.target.Credentials, ClusterUID: "known"}
	if _, err := l.driver.CheckVIM(l.ctx, known); err != nil {
		t.Fatal(err)
	}
	l.inSync()
	got := l.meter.take()
	want := []string{"GET /version", "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews", "GET /api", "GET /apis"}
	s, err := l.driver.open(t.Context(), l.target, nil)
	require.NoError(t, err)
	places, err := s.resolveServed(l.ctx)
	require.NoError(t, err)
	order, _ := byCollection(places)
	for _, k := range order {
		path := "GET /apis/" + k.gvr.Group + "/" + k.gvr.Version
		if k.gvr.Group == "" {
			path = "GET /api/" + k.gvr.Version
		}
		if k.namespace != "" {
			path += "/namespaces/" + k.namespace
		}
		want = append(want, path+"/"+k.gvr.Resource)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(got) >= 30 {
		t.Errorf("a refresh took %d requests (-want +got):\n%s", len(got), diff)
	}
	assert.Empty(t, l.meter.take(), "the places of objects took requests")
}
