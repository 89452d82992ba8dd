package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/cluster"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
)

// clusterPatience is how long a change of a workload cluster may take on a busy machine. Cluster API itself looks at some
// things twice a minute.
const clusterPatience = 6 * time.Minute

func TestClusterAPI(t *testing.T) {
	b := &bench{binary: binary(t), dir: filepath.Join(t.TempDir(), "lab")}
	if _, err := os.Stat(filepath.Join(filepath.Dir(b.binary), "capi", "version")); err != nil {
		if os.Getenv("LAB_REQUIRE") == "all" {
			t.Fatalf("Cluster API is not built: %v", err)
		}
		t.Skipf("Cluster API is not built, run make bin/capi first: %v", err)
	}
	t.Cleanup(func() {
		if _, err := b.run(t, "down"); err != nil {
			t.Error(err)
		}
	})
	b.must(t, "up", "--nodes", "1")
	if b.environment(t); b.env.ClusterAPI.Version != "" {
		t.Errorf("a lab without Cluster API has %+v", b.env.ClusterAPI)
	}
	start := time.Now()
	b.must(t, "up", "--capi")
	t.Logf("adding Cluster API took %s", time.Since(start))
	if b.environment(t); !strings.HasPrefix(b.env.ClusterAPI.Version, "v1.") {
		t.Errorf("version %q", b.env.ClusterAPI.Version)
	}
	for _, args := range [][]string{nil, {"--capi"}} {
		if out := b.must(t, "up", args...); !strings.Contains(out, "is running") {
			t.Errorf("another up %v says %q", args, out)
		}
	}

	t.Run("other providers", b.testOtherProviders)
	t.Run("older version", b.testOlderVersion)
	t.Run("clusters", func(t *testing.T) {
		t.Run("real topology", b.testRealTopology)
		t.Run("hold", b.testHold)
	})
	if inner, err := filepath.Glob(filepath.Join(b.dir, "workload-*")); err != nil || len(inner) != 1 {
		t.Errorf("one workload cluster is left, and these are: %v, %v", inner, err)
	}
	t.Run("managers", b.testManagers)
	t.Run("no nodes", b.testNoNodes)
	t.Run("down", b.testDownClusterAPI)
}

func (b *bench) environment(t *testing.T) {
	t.Helper()
	b.env = cluster.Environment{}
	if err := json.Unmarshal([]byte(b.must(t, "env")), &b.env); err != nil {
		t.Fatal(err)
	}
}

// kubectl runs kubectl in a namespace.
func (b *bench) kubectl(t *testing.T, namespace string, args ...string) string {
	t.Helper()
	return b.must(t, "kubectl", append([]string{"--", "--namespace", namespace}, args...)...)
}

// namespaced makes a namespace that goes with the lab.
func (b *bench) namespaced(t *testing.T, name string) string {
	t.Helper()
	b.must(t, "kubectl", "create", "namespace", name)
	return name
}

// await waits until a field of an object is as wanted. It watches: a kubectl every other second for each of the clusters
// that come up at a time would cost more than they do.
func (b *bench) await(t *testing.T, namespace, object, field, want string) {
	t.Helper()
	b.awaitDone(t, object, "--namespace", namespace, "--for=jsonpath={"+field+"}="+want)
}

// awaitDone repeats a `kubectl wait` until it has met what it waits for.
func (b *bench) awaitDone(t *testing.T, args ...string) {
	t.Helper()
	deadline := time.Now().Add(clusterPatience)
	for {
		_, err := b.run(t, "kubectl", append([]string{"--", "wait", "--timeout=1m"}, args...)...)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			b.explain(t)
			t.Fatalf("kubectl wait %s: %v", strings.Join(args, " "), err)
		}
		select {
		case <-t.Context().Done():
		case <-time.After(time.Second):
		}
	}
}

// awaitOutput repeats a command of kubectl until it prints what is wanted.
func (b *bench) awaitOutput(t *testing.T, want string, args ...string) {
	t.Helper()
	deadline := time.After(clusterPatience)
	for {
		out, err := b.run(t, "kubectl", append([]string{"--"}, args...)...)
		if err == nil && strings.TrimSpace(out) == want {
			return
		}
		select {
		case <-deadline:
			b.explain(t)
			t.Fatalf("kubectl %s says %q, %v; wanted %q", strings.Join(args, " "), out, err, want)
		case <-time.After(2 * time.Second):
		}
	}
}

// explain shows how far the clusters are, and the ends of the logs of those who should bring them further.
func (b *bench) explain(t *testing.T) {
	t.Helper()
	const lines = 25
	state, err := b.run(t, "kubectl", "--", "get", "clusters,devclusters,kubeadmcontrolplanes,leases", "--all-namespaces", "--output", "wide")
	t.Logf("%s\n%v", state, err)
	for _, name := range []string{"capi-core", "capi-in-memory"} {
		text, err := os.ReadFile(layout.Dir(b.dir).Log(name))
		all := strings.Split(strings.TrimSpace(string(text)), "\n")
		t.Logf("%s: %v\n%s", name, err, strings.Join(all[max(0, len(all)-lines):], "\n"))
	}
}

const isAvailable = `.status.conditions[?(@.type=="Available")].status`

// kubeconfig is a file with the kubeconfig of a workload cluster.
func (b *bench) kubeconfig(t *testing.T, namespace, name string) string {
	t.Helper()
	out := b.kubectl(t, namespace, "get", "secret", name+"-kubeconfig", "--output", "go-template={{ .data.value | base64decode }}")
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// awaitNodes waits until the nodes of a workload cluster have these kubelet versions.
func (b *bench) awaitNodes(t *testing.T, kubeconfig string, versions ...string) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	nodes := newClient(t, config).CoreV1().Nodes()
	ctx, cancel := context.WithTimeout(t.Context(), clusterPatience)
	defer cancel()
	err = poll.Until(ctx, "the nodes", func(ctx context.Context) error {
		list, err := nodes.List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var got []string
		for _, node := range list.Items {
			got = append(got, node.Status.NodeInfo.KubeletVersion)
		}
		if !slices.Equal(got, versions) {
			return fmt.Errorf("they are %v, wanted %v", got, versions)
		}
		return nil
	})
	if err != nil {
		b.explain(t)
		t.Fatal(err)
	}
}

func (b *bench) testOtherProviders(t *testing.T) {
	namespace := b.namespaced(t, "providers")
	b.kubectl(t, namespace, "apply", "--server-side", "--filename", "testdata/openstack.yaml")
	_, err := b.run(t, "kubectl", "apply", "--server-side", "--namespace", namespace, "--filename", "testdata/invalid.yaml")
	if err == nil || !strings.Contains(err.Error(), "version must be a valid semantic version") {
		t.Errorf("the webhook of core on an invalid cluster: %v", err)
	}
}

// testOlderVersion makes a cluster through the view of an older Cluster API, and finds it in the newer version elsewhere.
func (b *bench) testOlderVersion(t *testing.T) {
	namespace := b.namespaced(t, "older")
	older := []string{"--", "--kubeconfig", os.DevNull, "--server", b.env.ClusterAPI.OlderEndpoint, "--certificate-authority", b.env.CAFile, "--token", b.env.AdminToken}
	if out := b.must(t, "kubectl", append(older, "api-versions")...); strings.Contains(out, "cluster.x-k8s.io/v1beta2") ||
		!strings.Contains(out, "\ncluster.x-k8s.io/v1beta1\n") || !strings.Contains(out, "\napps/v1\n") {
		t.Errorf("the versions are\n%s", out)
	}
	b.must(t, "kubectl", append(older, "apply", "--server-side", "--namespace", namespace, "--filename", "testdata/older.yaml")...)
	if _, err := b.run(t, "kubectl", append(older, "apply", "--server-side", "--namespace", namespace, "--filename", "testdata/hold.yaml")...); err == nil {
		t.Error("an object of v1beta2 can be made")
	}
	if out := b.kubectl(t, namespace, "get", "clusters.v1beta2.cluster.x-k8s.io/older", "--output", "jsonpath={.spec.infrastructureRef.apiGroup}"); out != "infrastructure.cluster.x-k8s.io" {
		t.Errorf("the cluster refers to %q", out)
	}
}

// testRealTopology leaves its cluster to testDownClusterAPI.
func (b *bench) testRealTopology(t *testing.T) {
	t.Parallel()
	namespace := b.namespaced(t, "real-topology")
	b.kubectl(t, namespace, "apply", "--server-side", "--filename", "testdata/real-topology.yaml")
	b.await(t, namespace, "cluster/edge", isAvailable, "True")
	b.awaitNodes(t, b.kubeconfig(t, namespace, "edge"), "v1.36.3")
}

// testHold keeps the infrastructure of a cluster from coming up, and lets it.
func (b *bench) testHold(t *testing.T) {
	t.Parallel()
	namespace := b.namespaced(t, "hold")
	b.kubectl(t, namespace, "apply", "--server-side", "--filename", "testdata/hold.yaml")
	b.await(t, namespace, "labcluster/hold", ".metadata.ownerReferences[0].name", "hold")
	select {
	case <-t.Context().Done():
	case <-time.After(3 * time.Second):
	}
	b.awaitOutput(t, "", "get", "labcluster/hold", "--namespace", namespace, "--output", "jsonpath={.status}")
	b.kubectl(t, namespace, "annotate", "labcluster/hold", controllers.HoldAnnotation+"-")
	b.await(t, namespace, "labcluster/hold", ".status.initialization.provisioned", "true")
}

// testManagers ends managers: their pods start them again, as long as there are such.
func (b *bench) testManagers(t *testing.T) {
	b.kill(t, "capi-core", "capi-lab")
	before := b.env
	// The rest of the lab can be used.
	if b.environment(t); b.env.ClusterAPI.Version != "" {
		t.Error("the environment has Cluster API without all of its processes")
	}
	b.must(t, "up")
	b.must(t, "status")
	if b.environment(t); b.env.PIDs["capi-core"] == before.PIDs["capi-core"] || b.env.PIDs["capi-bootstrap"] != before.PIDs["capi-bootstrap"] {
		t.Errorf("repaired from %v to %v", before.PIDs, b.env.PIDs)
	}

	b.kubectl(t, "capd-system", "scale", "deployment/capd-controller-manager", "--replicas", "0")
	eventually(t, "the manager ends with its pod", func() error {
		if b.environment(t); b.env.PIDs["capi-in-memory"] != 0 {
			return fmt.Errorf("the processes are %v", b.env.PIDs)
		}
		return nil
	})
	namespace := b.namespaced(t, "again")
	apply := []string{"apply", "--server-side", "--namespace", namespace, "--filename", "testdata/plain.yaml"}
	if _, err := b.run(t, "kubectl", apply...); err == nil || !strings.Contains(err.Error(), "no pod of service capd-system/capd-webhook-service is ready") {
		t.Errorf("without the manager of DevClusters: %v", err)
	}
	b.kubectl(t, "capd-system", "scale", "deployment/capd-controller-manager", "--replicas", "1")
	b.kubectl(t, "capd-system", "rollout", "status", "deployment/capd-controller-manager", "--timeout", "3m")
	if log := b.kubectl(t, "capd-system", "logs", "deployment/capd-controller-manager", "--tail", "5"); strings.Count(log, "\n") != 5 || strings.Contains(log, "listening") {
		t.Errorf("the end of its log is %q", log)
	}
	b.must(t, "kubectl", apply...)
	b.await(t, namespace, "cluster/plain", ".status.phase", "Provisioned")
}

// testNoNodes has a lab without a place for the managers become a management cluster.
func (b *bench) testNoNodes(t *testing.T) {
	second := &bench{binary: b.binary, dir: filepath.Join(b.dir, "second")}
	if _, err := second.run(t, "up", "--nodes", "0", "--capi"); err == nil || !strings.Contains(err.Error(), "has no nodes") {
		t.Errorf("Cluster API without nodes: %v", err)
	}
	second.must(t, "down")
	b.must(t, "status")
}

// testDownClusterAPI leaves a workload cluster, that of testRealTopology, to `lab down`.
func (b *bench) testDownClusterAPI(t *testing.T) {
	b.environment(t)
	inner, err := filepath.Glob(filepath.Join(b.dir, "workload-*"))
	if err != nil || len(inner) != 1 {
		t.Fatalf("labs of workload clusters: %v, %v", inner, err)
	}
	workload := &bench{binary: b.binary, dir: inner[0]}
	workload.environment(t)
	b.must(t, "down")
	b.gone(t)
	workload.gone(t)
}
