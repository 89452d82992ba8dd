package workloadcluster_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// nodePort is where the servers of the test answer.
const nodePort = 30090

// managed is a cluster of the lab whose nodes are said to be servers of OpenStack: what runs on them runs nowhere, and the lab's cloud
// controller manager on this machine.
type managed struct {
	*testEnv
	cloud   labtest.OpenStackEnv
	user    labtest.OpenStackUser
	network string
	// servers are the identifiers of those of the nodes.
	servers []string
}

// TestAccWorkloadCluster_cloudManagerLoadBalancer gives the cloud controller manager of the lab, which reads what the profile of an
// add-on has it read, nodes that are servers and Services that need load balancers. What it made for these is gone when the cluster
// is destroyed with its Services: the provider removes it.
func TestAccWorkloadCluster_cloudManagerLoadBalancer(t *testing.T) {
	folder := labtest.CloudManager(t)
	m := &managed{testEnv: newEnv(t), cloud: labtest.OpenStackLoadBalancers(t)}
	m.lab.LabClass(t, m.namespace)
	m.user = m.cloud.NewProject(t)
	const name = "managed"
	m.network = m.cloud.NewNetwork(t, m.user, name, "10.201.9.0/24")
	var list struct{ Subnets []struct{ ID string } }
	m.cloud.Get(t, "network", "/v2.0/subnets?network_id="+m.network, &list)
	m.cloud.NewRouter(t, m.user, list.Subnets[0].ID)
	before := m.cloud.Holdings(t, m.user)
	config := m.config(fmt.Sprintf(`
  kubernetes_version = "1.36.3"
  topology           = { class = "lab" }
  control_plane      = { replicas = 1 }
  node_groups        = {}
  openstack = {
    vim_id                 = vnf_vim.cloud.id
    application_credential = {}
    cloud_config           = { settings = { LoadBalancer = { manage-security-groups = "true" } } }
    deletion_policy        = { load_balancers = "delete" }
  }
  addons = {
    cloud = { profile = "openstack-cloud-controller-manager", chart = { path = %q } }
  }
  timeouts = { delete = "5m" }
`, filepath.Join(folder, "chart")), labCloudVIM(m.cloud, m.user))
	m.run(t, resource.TestStep{
		Config:            config,
		ConfigStateChecks: []statecheck.StateCheck{status("READY")},
		Check: func(*terraform.State) error {
			stop := m.start(t, folder)
			defer stop()
			m.balances(t)
			stop()
			// As Cluster API ends the machines of a cluster before all else.
			for _, id := range m.servers {
				m.cloud.DeleteServer(t, id)
			}
			return nil
		},
	})
	assert.Equal(t, before, m.cloud.Holdings(t, m.user), "what the project holds before and after")
}

// start starts the cloud controller manager as its pod would, and returns what ends it.
func (m *managed) start(t *testing.T, folder string) func() {
	t.Helper()
	dir := t.TempDir()
	conf, log := filepath.Join(dir, "cloud.conf"), filepath.Join(dir, "log")
	pod := m.workload(t, "get", "daemonset", "openstack-cloud-controller-manager", "-n", "kube-system", "-o", "jsonpath={.spec.template.spec.volumes[0].secret.secretName} {.spec.template.spec.containers[0].env[?(@.name=='CLUSTER_NAME')].value}")
	require.Equal(t, "cloud-config edge", pod)
	require.NoError(t, os.WriteFile(conf, []byte(m.workload(t, "get", "secret", "cloud-config", "-n", "kube-system", "-o", `go-template={{ index .data "cloud.conf" | base64decode }}`)), 0o600))
	kubeconfig := m.lab.WorkloadKubeconfig(t, m.namespace, "edge")
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	command := exec.CommandContext(ctx, filepath.Join(folder, "openstack-cloud-controller-manager"), //nolint:gosec // Built for this.
		"--cloud-provider=openstack", "--cloud-config="+conf, "--cluster-name=edge", "--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig, "--controllers=cloud-node,cloud-node-lifecycle,service", "--leader-elect=false", "--secure-port=0", "--v=2")
	out, err := os.Create(log) //nolint:gosec // A file of the test.
	require.NoError(t, err)
	command.Stdout, command.Stderr = out, out
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second
	require.NoError(t, command.Start())
	return sync.OnceFunc(func() {
		cancel()
		_ = command.Wait()
		_ = out.Close()
		if text, err := os.ReadFile(log); err == nil && t.Failed() { //nolint:gosec // A file of the test.
			t.Logf("the cloud controller manager says:\n%s", text)
		}
	})
}

func (m *managed) workload(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(m.lab.WorkloadKubectl(t, m.namespace, "edge", args...))
}

// join makes a server that answers with its name at the port of nodes, and a node that it is: kubelet knows its name alone, and waits.
func (m *managed) join(t *testing.T, name string) {
	t.Helper()
	data := fmt.Sprintf("#!/bin/sh\nmkdir -p /var/www && cd /var/www && hostname >index.html && exec setsid python3 -m http.server %d >/dev/null 2>&1 &\n", nodePort)
	id, address := m.cloud.NewServerOf(t, m.user, map[string]any{
		"name": name, "flavorRef": m.cloud.Flavors["m1.small"], "imageRef": m.cloud.Images["ubuntu-22.04"],
		"networks": []map[string]any{{"uuid": m.network}}, "user_data": base64.StdEncoding.EncodeToString([]byte(data)),
	})
	m.servers = append(m.servers, id)
	m.workload(t, "apply", "-f", m.file(name+".yaml", fmt.Sprintf(`apiVersion: v1
kind: Node
metadata: { name: %s, annotations: { kwok.x-k8s.io/node: fake } }
spec: { taints: [{ key: node.cloudprovider.kubernetes.io/uninitialized, value: "true", effect: NoSchedule }] }
`, name)))
	labtest.Eventually(t, time.Minute, "node "+name, func() error {
		got := m.workload(t, "get", "node", name, "-o", `jsonpath={.spec.providerID} {.status.addresses[?(@.type=="InternalIP")].address} {.spec.taints[*].key} {.metadata.labels.node\.kubernetes\.io/instance-type}`)
		if got != "openstack:///"+id+" "+address+"  m1.small" {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

// service makes a Service and returns where its load balancer answers.
func (m *managed) service(t *testing.T, name, annotations string, port int) string {
	t.Helper()
	m.workload(t, "apply", "-f", m.file(name+".yaml", fmt.Sprintf(`apiVersion: v1
kind: Service
metadata: { name: %s, namespace: default, annotations: {%s} }
spec:
  type: LoadBalancer
  selector: { app: web }
  ports: [{ name: http, port: 80, nodePort: %d }]
`, name, annotations, port)))
	var address string
	labtest.Eventually(t, 2*time.Minute, "Service "+name, func() error {
		if address = m.workload(t, "get", "service", name, "-o", "jsonpath={.status.loadBalancer.ingress[*].ip}"); address == "" {
			return fmt.Errorf("it has no address")
		}
		return nil
	})
	return address
}

// balances has a Service answer at a floating address, from one node and then from two, and an internal one come and go.
func (m *managed) balances(t *testing.T) {
	t.Helper()
	m.join(t, "one")
	public := m.service(t, "web", "", nodePort)
	m.answers(t, public, "one")
	m.join(t, "two")
	m.answers(t, public, "one", "two")
	held := m.cloud.Holdings(t, m.user)
	for _, want := range []string{"floatingips " + public, "loadbalancers kube_service_edge_default_web"} {
		assert.Contains(t, held, want)
	}
	assert.Condition(t, func() bool {
		return slices.ContainsFunc(held, func(name string) bool { return strings.HasPrefix(name, "security_groups lb-sg-") })
	}, "%v", held)

	inside := m.service(t, "inside", `service.beta.kubernetes.io/openstack-internal-load-balancer: "true"`, nodePort+1)
	assert.Contains(t, inside, "10.201.9.")
	m.workload(t, "delete", "service", "inside", "--timeout=2m")
	labtest.Eventually(t, time.Minute, "the end of the load balancer", func() error {
		if all := m.cloud.LoadBalancers(t, m.user); len(all) != 1 {
			return fmt.Errorf("there are %v", all)
		}
		return nil
	})
}

// answers waits until these servers answer at an address.
func (m *managed) answers(t *testing.T, address string, want ...string) {
	t.Helper()
	labtest.Eventually(t, 2*time.Minute, "the answers of "+address, func() error {
		said := map[string]bool{}
		for range 4 {
			text, err := labtest.Fetch(t.Context(), "http://"+address+"/")
			if err != nil {
				return err
			}
			said[strings.TrimSpace(text)] = true
		}
		if len(said) != len(want) {
			return fmt.Errorf("%v answer, not %v", said, want)
		}
		return nil
	})
}
