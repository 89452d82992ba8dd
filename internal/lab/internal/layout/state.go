package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// State is what a lab remembers between two commands.
type State struct {
	// Ports are chosen at the first start and kept, so that clients survive a repair.
	Ports Ports `json:"ports"`
	// Nodes is the number of worker nodes.
	Nodes int `json:"nodes"`
	// Audit tells whether kube-apiserver writes the audit log.
	Audit bool `json:"audit"`
	// ControlPlane is the program of kube-apiserver, kube-controller-manager and kube-scheduler; empty for the lab's own.
	ControlPlane string `json:"control_plane,omitempty"`
	// AdminToken is the bearer token of lab-admin.
	AdminToken string `json:"admin_token"`
	// BasicPassword is what the basic-authentication proxy asks for.
	BasicPassword string `json:"basic_password"`
	// KubernetesVersion is what the server said at the last start.
	KubernetesVersion string `json:"kubernetes_version,omitempty"`
	// Ready is set when the last `lab up` came to its end.
	Ready bool `json:"ready"`
	// ClusterAPI is there when the lab has Cluster API.
	ClusterAPI *ClusterAPI `json:"cluster_api,omitempty"`
	// Owner is the process that the lab ends with; none for a lab that stays.
	Owner process.Record `json:"owner,omitzero"`
	// Processes are the programs of the lab by name.
	Processes process.Set `json:"processes"`
}

// ClusterAPI is what a lab with Cluster API remembers of it.
type ClusterAPI struct {
	// Ready is set when the last `lab up` found its managers ready.
	Ready bool `json:"ready"`
}

// LoadState reads the state. A lab that was never started has none: the error is then fs.ErrNotExist.
func (d Dir) LoadState() (*State, error) {
	state := &State{}
	if err := load(d.stateFile(), state); err != nil {
		return nil, err
	}
	if state.Processes == nil {
		state.Processes = process.Set{}
	}
	return state, nil
}

// IsKubernetes tells whether the lab of the directory is one of Kubernetes that has been started.
func (d Dir) IsKubernetes() bool {
	_, err := os.Stat(d.stateFile())
	return err == nil
}

// SaveState writes the state.
func (d Dir) SaveState(state *State) error {
	if err := save(d.stateFile(), state); err != nil {
		return err
	}
	return d.enroll(state.Owner, state.Processes)
}

func load(path string, state any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the state of the lab: %w", err)
	}
	if err := json.Unmarshal(data, state); err != nil {
		return fmt.Errorf("reading the state of the lab from %s: %w", path, err)
	}
	return nil
}

func save(path string, state any) error {
	data, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the state of the lab: %w", err)
	}
	return WriteFile(path, append(data, '\n'))
}

// IsMissing tells whether an error of LoadState means that there is no state yet.
func IsMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
