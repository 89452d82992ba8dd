package workloadcluster_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// realNodes are the arguments of a cluster of real nodes on servers of a lab of OpenStack, with
// flannel by its vendor's chart.
func realNodes(t *testing.T, workers int) string {
	t.Helper()
	text, err := os.ReadFile("testdata/openstack-nodes.yaml")
	require.NoError(t, err)
	return fmt.Sprintf(`
  kubernetes_version  = %q
  clusterctl_template = { content = %q, variables = { IMAGE = %q } }
  control_plane       = { replicas = 1 }
  node_groups         = { workers = { replicas = %d } }
  openstack           = { vim_id = vnf_vim.cloud.id, application_credential = {} }
  addons = {
    kube-flannel = { namespace = "kube-flannel", chart = { path = %q } }
  }
`, labtest.NodesVersion, strings.ReplaceAll(string(text), "${", "$${"), labtest.OpenStackNodesImage, workers, labtest.FlannelChart(t))
}

// web are two pods of a web server that says their names, on different nodes, and a Service with
// a port on every node.
const web = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 0
      tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists}]
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers:
      - name: web
        image: docker.io/library/sample:latest
        imagePullPolicy: Never
        readinessProbe: {httpGet: {path: /hostname, port: 8080}, periodSeconds: 1}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: NodePort, selector: {app: web}, ports: [{port: 80, targetPort: 8080, nodePort: 30080}]}
`

// TestAccWorkloadCluster_realNodes makes a cluster whose machines are servers of Nova that become
// real nodes: the real Cluster API Provider OpenStack makes them, kubeadm runs in them, and flannel
// is an add-on. Pods on two nodes answer through a Service; the group of workers grows; all goes.
func TestAccWorkloadCluster_realNodes(t *testing.T) {
	labtest.NeedsNodes(t)
	env := newEnv(t)
	cloud := labtest.OpenStackSystems(t, labtest.OpenStackNodes)
	user := cloud.NewProject(t)
	config := func(workers int) string { return env.config(realNodes(t, workers), labCloudVIM(cloud, user)) }
	workload := func(args ...string) string { return env.lab.WorkloadKubectl(t, env.namespace, "edge", args...) }
	env.run(t,
		resource.TestStep{
			Config:            config(1),
			ConfigPlanChecks:  resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("workers", "available_replicas", 1)},
			Check: func(*terraform.State) error {
				file := env.file("web.yaml", web)
				workload("apply", "--filename", file)
				workload("rollout", "status", "deployment/web", "--timeout=2m")
				for address := range strings.FieldsSeq(workload("get", "nodes", "--output", `jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}`)) {
					saysPod(t, "http://"+address+":30080/hostname")
				}
				return nil
			},
		},
		resource.TestStep{
			Config:            config(2),
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("workers", "available_replicas", 2)},
			Check: func(*terraform.State) error {
				if nodes := strings.Fields(workload("get", "nodes", "--output", "name")); len(nodes) != 3 {
					return fmt.Errorf("the cluster has the nodes %v", nodes)
				}
				return nil
			},
		},
	)
}

// saysPod waits until a web server says the name of a pod.
func saysPod(t *testing.T, url string) {
	t.Helper()
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	labtest.Eventually(t, time.Minute, url, func() error {
		response, err := client.Get(url) //nolint:noctx // It has a timeout.
		if err != nil {
			return err
		}
		defer response.Body.Close() //nolint:errcheck // It was read.
		if text, err := io.ReadAll(response.Body); err != nil || !strings.HasPrefix(string(text), "web-") {
			return fmt.Errorf("it says %q (%w)", text, err)
		}
		return nil
	})
}
