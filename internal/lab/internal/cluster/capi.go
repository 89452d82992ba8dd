package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/controllers"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/stages"
)

// clusterAPIFolder is the folder, beside the lab's own program, of the Cluster API managers, the manifests of their
// providers and the version of them all.
const clusterAPIFolder = "capi"

// managerPrefix and the name of its program are the name of a manager among the processes of a lab.
const managerPrefix = "capi-"

// ProcessWorkloads runs the lab's own part of Cluster API, above all the providers of workload clusters whose API server
// is a lab.
const ProcessWorkloads = managerPrefix + "lab"

// clusterAPIProcesses are the processes of Cluster API.
func clusterAPIProcesses() []string {
	var names []string
	for _, manager := range stages.Programs() {
		names = append(names, managerPrefix+manager)
	}
	return append(names, ProcessWorkloads)
}

// clusterAPIFile is a file of Cluster API.
func (l *Lab) clusterAPIFile(name string) string {
	return filepath.Join(filepath.Dir(l.Executable), clusterAPIFolder, name)
}

// clusterAPIVersion is the version of Cluster API that was built.
func (l *Lab) clusterAPIVersion() (string, error) {
	data, err := os.ReadFile(l.clusterAPIFile("version"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no Cluster API in %s: build it with `make bin/capi`", filepath.Dir(l.clusterAPIFile("version")))
	}
	if err != nil {
		return "", fmt.Errorf("reading the version of Cluster API: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}

// upClusterAPI makes the lab a management cluster and returns when it can be used as one. reused tells that it could be
// already. The rest of the lab can be used meanwhile, and when it fails.
func (l *Lab) upClusterAPI(ctx context.Context, state *layout.State) (reused bool, err error) {
	if _, err := l.clusterAPIVersion(); err != nil {
		return false, err
	}
	if l.clusterAPIRuns(state) {
		return true, nil
	}
	if state.Nodes == 0 {
		return false, fmt.Errorf("the lab in %s has no nodes: the managers of Cluster API are pods, and need one", l.Dir)
	}
	if state.ClusterAPI == nil {
		state.ClusterAPI = &layout.ClusterAPI{}
	}
	deployments, err := l.installClusterAPI(ctx)
	if err != nil {
		return false, err
	}
	if !state.Processes[ProcessWorkloads].Alive() {
		delete(state.Processes, ProcessWorkloads)
		if err := l.startWorkloads(ctx, state); err != nil {
			return false, err
		}
	}
	client, err := serviceClient(l.Dir)
	if err != nil {
		return false, err
	}
	if err := l.wait(ctx, state, "Cluster API", func(ctx context.Context) error {
		if err := managersReady(ctx, client, deployments); err != nil {
			return err
		}
		return workloadsReady(ctx, state.Ports)
	}); err != nil {
		return false, err
	}
	state.ClusterAPI.Ready = true
	return false, l.Dir.SaveState(state)
}

// clusterAPIRuns tells whether the lab has Cluster API, and all of it.
func (l *Lab) clusterAPIRuns(state *layout.State) bool {
	return state.ClusterAPI != nil && state.ClusterAPI.Ready && len(l.allProcesses(state).Missing(clusterAPIProcesses())) == 0
}

// allProcesses are the processes of a lab by name: those that `lab up` has started, and the programs of pods.
func (l *Lab) allProcesses(state *layout.State) process.Set {
	all := maps.Clone(state.Processes)
	// A list that cannot be read counts as empty.
	programs, _ := controllers.ListPrograms(l.Dir)
	for _, program := range programs {
		if name := managerPrefix + program.Name; !all[name].Alive() {
			all[name] = program.Process
		}
	}
	return all
}

func (l *Lab) startWorkloads(ctx context.Context, state *layout.State) error {
	return l.launch(ctx, ProcessWorkloads, process.Spec{
		Path:    l.Executable,
		Args:    []string{ProcessWorkloads, "--dir", string(l.Dir)},
		Dir:     string(l.Dir),
		LogFile: l.Dir.Log(ProcessWorkloads),
	}, state)
}

// managersReady tells whether the pods of the managers answer.
func managersReady(ctx context.Context, client kubernetes.Interface, deployments []types.NamespacedName) error {
	for _, name := range deployments {
		deployment, err := client.AppsV1().Deployments(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading deployment %s: %w", name, err)
		}
		status := &deployment.Status
		if status.ObservedGeneration < deployment.Generation || status.UpdatedReplicas == 0 || status.ReadyReplicas < status.Replicas {
			return fmt.Errorf("%d of %d pods of deployment %s answer", status.ReadyReplicas, status.Replicas, name)
		}
	}
	return nil
}

// workloadsReady connects to the lab's own part of Cluster API.
func workloadsReady(ctx context.Context, ports layout.Ports) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", layout.Address(ports.OlderClusterAPI()))
	if err != nil {
		return fmt.Errorf("%s does not answer: %w", ProcessWorkloads, err)
	}
	return conn.Close()
}
