package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/dynamic"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/proxy"
)

// clusterAPIGroup is the API group of Cluster API; its providers have groups below it.
const clusterAPIGroup = "cluster.x-k8s.io"

// workloadTimeout is how long the lab of a control plane may take to start.
const workloadTimeout = 3 * time.Minute

// workloadPrefix begins the directory of the lab of a control plane, directly below that of the lab with Cluster API, so
// that `lab down` finds it.
const workloadPrefix = "workload-"

// Workloads runs the lab's own parts of Cluster API until ctx ends: its providers, and the view of an older version. It
// runs in the directory of the lab.
func (l *Lab) Workloads(ctx context.Context) error {
	state, err := l.Dir.LoadState()
	if err != nil {
		return err
	}
	older, err := l.olderClusterAPI(state)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", layout.Address(state.Ports.OlderClusterAPI()))
	if err != nil {
		return fmt.Errorf("opening the port of the view of an older Cluster API: %w", err)
	}
	config, err := serviceConfig(l.Dir)
	if err != nil {
		return err
	}
	object, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making the lab's client: %w", err)
	}
	client, err := serviceClient(l.Dir)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return serveHTTPS(ctx, listener, older) })
	group.Go(func() error { return controllers.RunWorkloads(ctx, client, object, labs{l}, l.Log) })
	return group.Wait()
}

// olderClusterAPI shows the API server as one with a Cluster API that knows v1beta1 alone. The managers, which go past
// it, need the version that it hides.
func (l *Lab) olderClusterAPI(state *layout.State) (*http.Server, error) {
	target, roots, server, err := l.front(state, "older")
	if err != nil {
		return nil, err
	}
	handler := (&proxy.Older{Target: target, Roots: roots, Hidden: newerThanV1beta1, Log: l.Log}).Handler()
	return l.httpServer(handler, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{server}}), nil
}

func newerThanV1beta1(group, version string) bool {
	return (group == clusterAPIGroup || strings.HasSuffix(group, "."+clusterAPIGroup)) && version == "v1beta2"
}

// labs are the labs of control planes.
type labs struct{ outer *Lab }

func (l labs) path(id string) string { return l.outer.Dir.Path(workloadPrefix + id) }

// Up starts the lab of a control plane, without nodes: those are machines.
func (l labs) Up(ctx context.Context, id string) (*controllers.Workload, error) {
	dir, err := layout.Open(l.path(id))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, workloadTimeout)
	defer cancel()
	none := 0
	inner := &Lab{Dir: dir, Executable: l.outer.Executable, Log: l.outer.Log}
	if _, err := inner.Up(ctx, UpOptions{Nodes: &none}); err != nil {
		return nil, err
	}
	state, err := dir.LoadState()
	if err != nil {
		return nil, err
	}
	kubeconfig, err := os.ReadFile(dir.Kubeconfig(kubeconfigAdmin))
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return &controllers.Workload{Host: layout.Host, Port: int64(state.Ports.APIServer()), Kubeconfig: kubeconfig}, nil
}

// Down stops the lab of a control plane.
func (l labs) Down(ctx context.Context, id string) error {
	dir, err := layout.Find(l.path(id))
	if errors.Is(err, layout.ErrNoLab) {
		return nil
	}
	if err != nil {
		return err
	}
	return (&Lab{Dir: dir, Executable: l.outer.Executable, Log: l.outer.Log}).Down(ctx)
}
