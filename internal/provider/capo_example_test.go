package provider_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// The examples of clusters on OpenStack, without Octavia and with it.
const (
	capoExample    = "complete/capo"
	octaviaExample = "complete/capo-octavia"
)

// realNodes is the example of a cluster whose machines are servers of Nova that become real
// nodes: the real Cluster API Provider OpenStack makes them, kubeadm runs in them, flannel is an
// add-on, and the pods of a network function run on them.
type realNodes struct {
	*cli
	example   string
	lab       labtest.Env
	cloud     labtest.OpenStackEnv
	user      labtest.OpenStackUser
	namespace string
	// vars are the variables of the example, each with its value of today; service is where the
	// network function answers.
	vars          map[string]string
	service       string
	controlPlanes int
}

func newRealNodes(t *testing.T, subnet string, controlPlanes int) *realNodes {
	t.Helper()
	labtest.NeedsNodes(t)
	return newRealNodesOf(t, capoExample, labtest.OpenStackSystems(t, labtest.OpenStackNodes), subnet, controlPlanes)
}

// newRealNodesOf is the example with the variables that both have.
func newRealNodesOf(t *testing.T, example string, cloud labtest.OpenStackEnv, subnet string, controlPlanes int) *realNodes {
	t.Helper()
	n := &realNodes{cli: newCLI(t), example: example, lab: labtest.ClusterAPI(t), cloud: cloud, controlPlanes: controlPlanes}
	n.user, n.namespace = n.cloud.NewProject(t), n.lab.ClusterNamespace(t)
	acctest.Write(t, n.root, example+"/clouds.yaml", fmt.Sprintf(`clouds:
  lab:
    region_name: %q
    auth: { auth_url: %q, username: %q, password: %q, project_name: %q, user_domain_name: %[6]q, project_domain_name: %[6]q }
`, n.cloud.Region, n.cloud.AuthURL, n.user.Name, n.user.Password, n.user.Project, n.cloud.Domain))
	n.vars = map[string]string{
		"kubeconfig": n.lab.Kubeconfig, "namespace": n.namespace, "clouds": "clouds.yaml", "cloud": "lab", "subnet": subnet,
		"flannel_chart": labtest.FlannelChart(t), "kubernetes_version": labtest.PreviousNodesVersion, "workers": "1",
		"control_planes": strconv.Itoa(controlPlanes),
	}
	return n
}

// variables are those of the example as terraform takes them.
func (n *realNodes) variables() []string {
	var vars []string
	for name, value := range n.vars {
		vars = append(vars, name+"="+value)
	}
	return vars
}

// brings changes variables, applies, and expects a second plan to be empty and some workers.
func (n *realNodes) brings(t *testing.T, workers int, vars map[string]string) {
	t.Helper()
	began := time.Now()
	maps.Copy(n.vars, vars)
	out := n.apply(t, n.example, n.variables()...)
	for _, want := range []string{`status = "INSTANTIATED"`, fmt.Sprintf("workers = %d", workers), fmt.Sprintf("version = %q", n.vars["kubernetes_version"])} {
		if !strings.Contains(n.output(t), want) {
			t.Errorf("the outputs do not hold %s:\n%s", want, out)
		}
	}
	want := strings.Repeat("v"+n.vars["kubernetes_version"]+" True ", n.controlPlanes+workers)
	// Cluster API deletes the last machine that was replaced when the apply is over.
	labtest.Eventually(t, 5*time.Minute, "nodes", func() error {
		got := n.workload(t, "get", "nodes", "--output", `jsonpath={range .items[*]}{.status.nodeInfo.kubeletVersion} {.status.conditions[?(@.type=="Ready")].status} {end}`)
		if got+" " != want {
			return fmt.Errorf("the nodes are %s, not %s", got, want)
		}
		return nil
	})
	t.Logf("%3.0f s: %v", time.Since(began).Seconds(), vars)
}

func (n *realNodes) output(t *testing.T) string {
	t.Helper()
	return n.run(t, n.example, n.variables(), "output", "-no-color")
}

func (n *realNodes) workload(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(n.lab.WorkloadKubectl(t, n.namespace, "edge", args...))
}

// instantiates makes the cluster and the network function in one apply; each node leads to its pods,
// and all of them answer.
func (n *realNodes) instantiates(t *testing.T) {
	t.Helper()
	n.brings(t, 1, nil)
	n.service = n.run(t, n.example, n.variables(), "output", "-raw", "service")
	nodes := n.workload(t, "get", "nodes", "--output", `jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}`)
	n.answers(t, append([]string{n.service}, prefixed("http://", ":30080", strings.Fields(nodes))...)...)
}

// answers expects that each of these addresses leads to both pods of the network function.
func (n *realNodes) answers(t *testing.T, urls ...string) {
	t.Helper()
	pods := strings.Fields(n.workload(t, "get", "pods", "--namespace=portal", "--output=jsonpath={.items[*].metadata.name}"))
	require.Len(t, pods, 2)
	for _, url := range urls {
		var heard []string
		labtest.Eventually(t, time.Minute, url, func() error {
			name, err := get(t.Context(), url)
			if heard = append(heard, name); err != nil {
				return err
			}
			for _, pod := range pods {
				if !slices.Contains(heard, pod) {
					return fmt.Errorf("%v have answered, not all of %v", heard, pods)
				}
			}
			return nil
		})
	}
}

func prefixed(before, after string, texts []string) []string {
	var out []string
	for _, text := range texts {
		out = append(out, before+text+after)
	}
	return out
}

// get returns what a web server says within two seconds.
func get(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return labtest.Fetch(ctx, url)
}

// destroys destroys all, and nothing is left on the management cluster or in OpenStack. More are kinds of objects that are there
// before.
func (n *realNodes) destroys(t *testing.T, more ...string) {
	t.Helper()
	began := time.Now()
	held := n.cloud.Holdings(t, n.user)
	for _, kind := range append([]string{"servers", "ports", "networks", "routers", "security_groups", "application_credentials"}, more...) {
		assert.True(t, slices.ContainsFunc(held, func(name string) bool { return strings.HasPrefix(name, kind) }), "%s: %v", kind, held)
	}
	n.run(t, n.example, n.variables(), "destroy", "-auto-approve", "-no-color")
	t.Logf("%3.0f s: destroyed", time.Since(began).Seconds())
	assert.Empty(t, n.cloud.Holdings(t, n.user), "left in OpenStack")
	assert.Empty(t, n.lab.Kubectl(t, "get", "clusters,machines,openstackclusters,openstackmachines,openstackservers,secrets", "-n", n.namespace, "-o", "name", "--ignore-not-found"), "left on the management cluster")
}

// TestRealNodesExample applies the example of a cluster of real nodes with a network function on it,
// with another worker, and destroys it.
func TestRealNodesExample(t *testing.T) {
	n := newRealNodes(t, "10.62.0.0/24", 1)
	n.instantiates(t)
	n.brings(t, 2, map[string]string{"workers": "2"})
	n.destroys(t)
}

// TestRealNodesLife leads the example with three control planes through all that a cluster of real nodes meets: it is scaled and
// healed, its application credential is rotated, it is upgraded by a minor version while the network
// function answers, an autoscaler takes over, and it is destroyed. It takes many minutes: VNF_REAL_NODES
// has it run.
func TestRealNodesLife(t *testing.T) {
	if os.Getenv("VNF_REAL_NODES") == "" {
		t.Skip("VNF_REAL_NODES is not set: `make test-nodes` sets it")
	}
	n := newRealNodes(t, "10.63.0.0/24", 3)
	n.instantiates(t)
	n.brings(t, 2, map[string]string{"workers": "2"})

	workers := n.workers(t)
	n.brings(t, 2, map[string]string{"heal": fmt.Sprintf(`{ trigger = "1", machine_names = [%q] }`, workers[0])})
	now := n.workers(t)
	assert.NotContains(t, now, workers[0])
	assert.Contains(t, now, workers[1])

	credentials := n.credentials(t)
	n.brings(t, 2, map[string]string{"credential": "leaked"})
	rotated := n.credentials(t)
	assert.Len(t, rotated, 1)
	assert.NotEqual(t, credentials, rotated)

	// The servers of the new version are made with the new credential.
	p := n.probe(t)
	n.brings(t, 2, map[string]string{"kubernetes_version": labtest.NodesVersion})
	p.expectAnswers(t)

	n.brings(t, 2, map[string]string{"autoscaler": "{ min = 1, max = 3 }"})
	n.autoscale(t, 5)
	n.brings(t, 3, nil)
	n.autoscale(t, 0)
	n.brings(t, 1, nil)
	n.destroys(t)
}

// workers are the names of the machines of the group of workers.
func (n *realNodes) workers(t *testing.T) []string {
	t.Helper()
	return strings.Fields(n.lab.Kubectl(t, "get", "machines", "-n", n.namespace, "-l", "cluster.x-k8s.io/deployment-name=edge-workers", "-o", "jsonpath={.items[*].metadata.name}"))
}

// credentials are the names of the application credentials that the user has.
func (n *realNodes) credentials(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(n.cloud.Holdings(t, n.user), func(name string) bool { return !strings.HasPrefix(name, "application_credentials ") })
}

// autoscale stands in for the cluster-autoscaler, whose program is not to be had as a module: as its
// provider for Cluster API does, it takes the limits of a group from the annotations of the
// MachineDeployment, and sets the replicas within them. It waits for the machines.
func (n *realNodes) autoscale(t *testing.T, wanted int) {
	t.Helper()
	limit := func(which string) int {
		text := n.lab.Kubectl(t, "get", "machinedeployment", "edge-workers", "-n", n.namespace,
			"-o", `jsonpath={.metadata.annotations.cluster\.x-k8s\.io/cluster-api-autoscaler-node-group-`+which+`-size}`)
		value, err := strconv.Atoi(text)
		require.NoError(t, err, "the limit of the group: %q", text)
		return value
	}
	replicas := strconv.Itoa(min(max(wanted, limit("min")), limit("max")))
	n.lab.Kubectl(t, "scale", "machinedeployment/edge-workers", "-n", n.namespace, "--replicas="+replicas)
	n.lab.Kubectl(t, "wait", "machinedeployment/edge-workers", "-n", n.namespace, "--for=jsonpath={.status.availableReplicas}="+replicas, "--timeout=5m")
	n.lab.Kubectl(t, "wait", "machinedeployment/edge-workers", "-n", n.namespace, "--for=jsonpath={.status.replicas}="+replicas, "--timeout=5m")
}

// prober asks the network function again and again.
type prober struct {
	stop context.CancelFunc
	wait sync.WaitGroup

	asked    int
	failures []string
	// longest is the time between two answers, at its longest.
	longest time.Duration
	// fewest is the number of pods that are available, at its lowest.
	fewest int
}

// probe starts a prober.
func (n *realNodes) probe(t *testing.T) *prober {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	p := &prober{stop: cancel, fewest: 2}
	kubeconfig := n.lab.WorkloadKubeconfig(t, n.namespace, "edge")
	p.wait.Go(func() { p.ask(ctx, n.service) })
	p.wait.Go(func() { p.count(ctx, n.lab, kubeconfig) })
	return p
}

func (p *prober) ask(ctx context.Context, url string) {
	last := time.Now()
	for every := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		p.asked++
		if _, err := get(ctx, url); err != nil {
			p.failures = append(p.failures, fmt.Sprintf("%s: %v", time.Now().Format(time.TimeOnly), err))
			continue
		}
		p.longest = max(p.longest, time.Since(last))
		last = time.Now()
	}
}

// count watches the pods, as long as the API answers.
func (p *prober) count(ctx context.Context, lab labtest.Env, kubeconfig string) {
	for every := time.NewTicker(2 * time.Second); ; {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		text, err := lab.TryKubectl(ctx, "--kubeconfig", kubeconfig, "get", "deployment", "portal", "--namespace=portal", "--request-timeout=5s", "--output=jsonpath={.status.availableReplicas}")
		if err != nil {
			continue
		}
		available, _ := strconv.Atoi(text)
		p.fewest = min(p.fewest, available)
	}
}

// expectAnswers ends a prober: one pod was there at any time, and no answer took long. The
// address of the Service is the one of the API, which a machine of the control plane hands over to the
// next one: for seconds no machine has it.
func (p *prober) expectAnswers(t *testing.T) {
	t.Helper()
	p.stop()
	p.wait.Wait()
	t.Logf("%d requests, %d failed, %.1f s at most between two answers, %d pods at least", p.asked, len(p.failures), p.longest.Seconds(), p.fewest)
	if p.fewest < 1 || p.longest > 30*time.Second {
		t.Errorf("the network function was away:\n%s", strings.Join(p.failures, "\n"))
	}
}
