package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// clusterAPIFolder is the folder, beside the lab's own program, of the Cluster API managers, the manifests of their
// providers and the version of them all.
const clusterAPIFolder = "capi"

// clusterAPIFeatures are those that are switched on; every manager knows all of them.
const clusterAPIFeatures = "ClusterTopology=true,MachinePool=true,RuntimeSDK=true"

// managerPrefix and the name of its program are the name of a manager among the processes of a lab.
const managerPrefix = "capi-"

// inMemory is the provider of machines that exist in its memory alone.
const inMemory = "in-memory"

// ProcessWorkloads runs the lab's own part of Cluster API, above all the providers of workload clusters whose API server
// is a lab.
const ProcessWorkloads = managerPrefix + "lab"

// managers are the programs of Cluster API, and their manifests, in the order of starting and of their ports.
func managers() [layout.Managers]string {
	return [...]string{"core", "bootstrap", "control-plane", inMemory}
}

// clusterAPIProcesses are the processes of Cluster API, in the order of starting.
func clusterAPIProcesses() []string {
	var names []string
	for _, manager := range managers() {
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

// upClusterAPI starts the managers that do not run and returns when their webhooks answer. reused tells that all of them
// did already. The rest of the lab can be used meanwhile, and when it fails.
func (l *Lab) upClusterAPI(ctx context.Context, state *layout.State) (reused bool, err error) {
	if _, err := l.clusterAPIVersion(); err != nil {
		return false, err
	}
	if l.clusterAPIRuns(state) {
		return true, nil
	}
	claim, err := l.claimWorkloads(ctx, state)
	if err != nil {
		return false, err
	}
	if claim != nil {
		defer claim.Close() //nolint:errcheck // The manager has its own copy.
	}
	if err := l.installClusterAPI(ctx, state); err != nil {
		return false, err
	}
	missing := missingOfClusterAPI(state)
	for _, name := range missing {
		delete(state.Processes, name)
	}
	for i, manager := range managers() {
		if !slices.Contains(missing, managerPrefix+manager) {
			continue
		}
		if err := l.startManager(ctx, i, manager, state, claim); err != nil {
			return false, err
		}
	}
	if slices.Contains(missing, ProcessWorkloads) {
		if err := l.startWorkloads(ctx, state); err != nil {
			return false, err
		}
	}
	if err := l.wait(ctx, state, "Cluster API", func(ctx context.Context) error { return l.managersReady(ctx, state.Ports) }); err != nil {
		return false, err
	}
	state.ClusterAPI.Ready = true
	return false, l.Dir.SaveState(state)
}

// clusterAPIRuns tells whether the lab has Cluster API, and all of it.
func (l *Lab) clusterAPIRuns(state *layout.State) bool {
	return state.ClusterAPI != nil && state.ClusterAPI.Ready && len(missingOfClusterAPI(state)) == 0
}

// missingOfClusterAPI names the processes that do not run.
func missingOfClusterAPI(state *layout.State) []string {
	return state.Processes.Missing(clusterAPIProcesses())
}

// claimWorkloads opens the port that keeps the ports of the workload clusters for this lab, and chooses them the first
// time. The provider in memory inherits it; there is nothing to claim while that one runs.
func (l *Lab) claimWorkloads(ctx context.Context, state *layout.State) (*os.File, error) {
	if state.Processes[managerPrefix+inMemory].Alive() {
		return nil, nil //nolint:nilnil // Nothing to claim.
	}
	if state.ClusterAPI == nil {
		ports, listener, err := layout.ChooseRange(ctx)
		if err != nil {
			return nil, err
		}
		defer listener.Close() //nolint:errcheck // The file is a copy.
		state.ClusterAPI = &layout.ClusterAPI{Workloads: ports}
		return listener.File()
	}
	listener, err := state.ClusterAPI.Workloads.Claim(ctx)
	if err != nil {
		return nil, fmt.Errorf("claiming the ports of the workload clusters in memory again: %w", err)
	}
	defer listener.Close() //nolint:errcheck // The file is a copy.
	return listener.File()
}

func (l *Lab) startManager(ctx context.Context, index int, manager string, state *layout.State, claim *os.File) error {
	spec := process.Spec{
		Path: l.clusterAPIFile(manager),
		Args: []string{
			"--kubeconfig=" + l.Dir.Kubeconfig(kubeconfigClusterAPI),
			"--webhook-port=" + strconv.Itoa(state.Ports.Manager(index)),
			"--webhook-cert-dir=" + l.Dir.Path("pki"),
			"--webhook-cert-name=webhooks.crt",
			"--webhook-key-name=webhooks.key",
			"--feature-gates=" + clusterAPIFeatures,
		},
		Dir:     string(l.Dir),
		LogFile: l.Dir.Log(managerPrefix + manager),
	}
	if manager == inMemory {
		spec.Args = append(spec.Args,
			"--debug-port="+strconv.Itoa(state.Ports.InMemory()),
			"--first-port="+strconv.Itoa(state.ClusterAPI.Workloads.First()),
			"--last-port="+strconv.Itoa(state.ClusterAPI.Workloads.Last()),
		)
		spec.Files = []*os.File{claim}
	} else {
		spec.Args = append(spec.Args,
			"--leader-elect=false",
			// Nobody asks for their health and their metrics: those ports stay closed.
			"--health-addr=0",
			"--diagnostics-address=0",
			"--kube-api-qps=1000",
			"--kube-api-burst=2000",
		)
	}
	return l.launch(ctx, managerPrefix+manager, spec, state)
}

func (l *Lab) startWorkloads(ctx context.Context, state *layout.State) error {
	return l.launch(ctx, ProcessWorkloads, process.Spec{
		Path:    l.Executable,
		Args:    []string{ProcessWorkloads, "--dir", string(l.Dir)},
		Dir:     string(l.Dir),
		LogFile: l.Dir.Log(ProcessWorkloads),
	}, state)
}

// managersReady connects to the webhooks of every manager, which answer when it has started, and to the lab's own part.
func (l *Lab) managersReady(ctx context.Context, ports layout.Ports) error {
	roots, err := l.authorities()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for i, manager := range managers() {
		group.Go(func() error {
			dialer := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: "localhost"}}
			conn, err := dialer.DialContext(ctx, "tcp", layout.Address(ports.Manager(i)))
			if err != nil {
				return fmt.Errorf("%s%s does not answer: %w", managerPrefix, manager, err)
			}
			return conn.Close()
		})
	}
	group.Go(func() error {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", layout.Address(ports.OlderClusterAPI()))
		if err != nil {
			return fmt.Errorf("%s does not answer: %w", ProcessWorkloads, err)
		}
		return conn.Close()
	})
	return group.Wait()
}
