package labtest

import (
	"context"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// deletionTimeout bounds the deletion of a test's workload clusters.
const deletionTimeout = 3 * time.Minute

// ClusterAPI returns a running lab whose cluster is a management cluster of Cluster
// API: the lab of Kubernetes, to which the first test that needs it adds the
// managers. Without bin/capi, or when they do not start, the test is skipped.
//
// Workload clusters live in namespaces as everything else does. Those in memory (the
// kinds Dev...) answer to a client that lists nodes, not to one that deploys; those
// of kind LabControlPlane are labs of their own. README.md of the lab tells more.
func ClusterAPI(t testing.TB) Env {
	t.Helper()
	FullRun(t, "Cluster API")
	Kubernetes(t)
	env, err := findClusterAPI()
	if err != nil {
		Missing(t, fmt.Sprintf("Cluster API: %v", err))
	}
	return env
}

// NeedsClusterAPI skips a test that starts managers of Cluster API by itself, in a lab
// that is not of ClusterAPI, where they have not been built.
func NeedsClusterAPI(t testing.TB) {
	t.Helper()
	NotShort(t, "a lab")
	FullRun(t, "Cluster API")
	if _, err := clusterAPIBinary(); err != nil {
		Missing(t, fmt.Sprintf("Cluster API: %v", err))
	}
}

// findClusterAPI adds Cluster API to the lab once in a process.
var findClusterAPI = sync.OnceValues(func() (Env, error) {
	lab, err := find()
	if err != nil {
		return Env{}, err
	}
	binary, err := clusterAPIBinary()
	if err != nil {
		return Env{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return startClusterAPI(ctx, binary, lab.Dir)
})

func startClusterAPI(ctx context.Context, binary, dir string, options ...string) (Env, error) {
	if _, err := run(ctx, binary, append([]string{"up", "--dir", dir, "--capi"}, options...)...); err != nil {
		return Env{}, err
	}
	env, err := read(ctx, binary, dir)
	if err == nil && env.Management.Version == "" {
		err = errors.New("its managers have ended, see the log folder of the lab")
	}
	return env, err
}

// clusterAPIBinary is the lab's program, beside which Cluster API has been built.
func clusterAPIBinary() (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(root, "bin", "capi", "version")); errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("bin/capi is not built, run make bin/capi")
	} else if err != nil {
		return "", err
	}
	return filepath.Join(root, "bin", "lab"), nil
}

// ClusterNamespace is Namespace for workload clusters: they are deleted before it,
// because what Cluster API needs to take one apart would go with the namespace.
func (e Env) ClusterNamespace(t testing.TB) string {
	t.Helper()
	name := e.Namespace(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), deletionTimeout)
		defer cancel()
		if left, err := e.TryKubectl(ctx, "get", "clusters.cluster.x-k8s.io", "--namespace", name, "--output", "name"); err == nil && left == "" {
			return // most tests have removed theirs
		}
		if _, err := e.TryKubectl(ctx, "delete", "clusters.cluster.x-k8s.io", "--all", "--namespace", name, "--timeout", deletionTimeout.String()); err != nil {
			t.Logf("removing the workload clusters of namespace %s: %v", name, err)
		}
	})
	return name
}

// ClusterClass installs class `in-memory` of the provider with its templates in a
// namespace, so that a Cluster there can name it. Its machines start within seconds.
func (e Env) ClusterClass(t testing.TB, namespace string) {
	t.Helper()
	e.apply(t, namespace, strings.ReplaceAll(e.ReadFile(t, e.Management.ClusterClass), `startupDuration: "10s"`, `startupDuration: "1s"`))
}

// LabClass installs class `lab` in a namespace, with the worker class `worker`: the
// API server of a Cluster of it is a lab.
func (e Env) LabClass(t testing.TB, namespace string) {
	t.Helper()
	e.apply(t, namespace, labClass)
}

//go:embed labclass.yaml
var labClass string

// OpenStackClass installs class `openstack` in a namespace, with the worker class
// `worker`: what machines are made of are variables of it.
func (e Env) OpenStackClass(t testing.TB, namespace string) {
	t.Helper()
	e.apply(t, namespace, openStackClass)
}

//go:embed openstackclass.yaml
var openStackClass string

func (e Env) apply(t testing.TB, namespace, manifests string) {
	t.Helper()
	require.NoError(t, e.Server(t).apply(t.Context(), namespace, manifests))
}

// WorkloadKubeconfig returns the path of a file with the kubeconfig of a workload
// cluster, which must be there.
func (e Env) WorkloadKubeconfig(t testing.TB, namespace, cluster string) string {
	t.Helper()
	encoded := e.Kubectl(t, "get", "secret", cluster+"-kubeconfig", "--namespace", namespace, "--output", "jsonpath={.data.value}")
	out, err := base64.StdEncoding.DecodeString(encoded)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, out, 0o600))
	return file
}

// WorkloadKubectl runs kubectl with all rights on a workload cluster and returns its
// standard output. A workload cluster in memory knows no server-side apply.
func (e Env) WorkloadKubectl(t testing.TB, namespace, cluster string, args ...string) string {
	t.Helper()
	return e.Kubectl(t, append([]string{"--kubeconfig", e.WorkloadKubeconfig(t, namespace, cluster)}, args...)...)
}

// Pause has Cluster API leave a cluster alone, or attend to it again.
func (e Env) Pause(t testing.TB, namespace, cluster string, paused bool) {
	t.Helper()
	e.Kubectl(t, "patch", "clusters.cluster.x-k8s.io", cluster, "--namespace", namespace,
		"--type", "merge", "--patch", fmt.Sprintf(`{"spec":{"paused":%t}}`, paused))
}
