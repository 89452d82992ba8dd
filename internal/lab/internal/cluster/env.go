package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/shell"
)

// Environment is everything a client of the lab needs to know. The JSON keys are stable.
type Environment struct {
	Dir string `json:"dir"`
	// Endpoint is the API server itself.
	Endpoint string `json:"endpoint"`
	CAFile   string `json:"ca_file"`
	// Kubeconfig, AdminToken and the client certificate may do everything.
	Kubeconfig            string `json:"kubeconfig"`
	AdminToken            string `json:"admin_token"`
	ClientCertificateFile string `json:"client_certificate_file"`
	ClientKeyFile         string `json:"client_key_file"`
	// LimitedToken may work with the ConfigMaps and Secrets of LimitedNamespace, and nothing else.
	LimitedToken     string `json:"limited_token"`
	LimitedNamespace string `json:"limited_namespace"`
	// Basic is the proxy that asks for a user name and a password.
	Basic EnvironmentBasic `json:"basic"`
	// Fault is the proxy that `lab fault` controls.
	Fault EnvironmentFault `json:"fault"`
	// ClusterAPI is empty while the lab does not run Cluster API.
	ClusterAPI EnvironmentClusterAPI `json:"cluster_api"`
	// AuditLog holds one JSON event a line; it is empty when the lab was started without it.
	AuditLog          string         `json:"audit_log"`
	KubernetesVersion string         `json:"kubernetes_version"`
	PIDs              map[string]int `json:"pids"`
}

// EnvironmentBasic is the access through the basic-authentication proxy.
type EnvironmentBasic struct {
	Endpoint string `json:"endpoint"`
	Username string `json:"username"`
	Password string `json:"password"`
	CAFile   string `json:"ca_file"`
}

// EnvironmentFault is the access through the fault proxy. It passes TLS through: certificates, tokens and kubeconfigs
// are those of the API server.
type EnvironmentFault struct {
	Endpoint string `json:"endpoint"`
}

// EnvironmentClusterAPI is what there is for tests of Cluster API.
type EnvironmentClusterAPI struct {
	Version string `json:"version"`
	// OlderEndpoint is the API server as one whose Cluster API knows v1beta1 alone, for bearer tokens.
	OlderEndpoint string `json:"older_endpoint"`
	// ClusterClass is a manifest of class `in-memory` with its templates, as its provider ships it.
	ClusterClass string `json:"cluster_class"`
}

// ErrNotRunning says that a lab, or a part of it, does not run.
var ErrNotRunning = errors.New("the lab is not running")

// Environment describes a lab that runs. The error is ErrNotRunning for one that does not.
func (l *Lab) Environment() (*Environment, error) {
	state, err := l.running()
	if err != nil {
		return nil, err
	}
	limited, err := os.ReadFile(l.Dir.LimitedToken())
	if err != nil {
		return nil, fmt.Errorf("reading the token of service account %s: %w", limitedAccount, err)
	}
	environment := &Environment{
		Dir:                   string(l.Dir),
		Endpoint:              endpoint(state.Ports.APIServer()),
		CAFile:                l.Dir.PKI("ca.crt"),
		Kubeconfig:            l.Kubeconfig(),
		AdminToken:            state.AdminToken,
		ClientCertificateFile: l.Dir.PKI("client.crt"),
		ClientKeyFile:         l.Dir.PKI("client.key"),
		LimitedToken:          string(limited),
		LimitedNamespace:      limitedAccount,
		Basic: EnvironmentBasic{
			Endpoint: endpoint(state.Ports.Basic()),
			Username: userBasic,
			Password: state.BasicPassword,
			CAFile:   l.Dir.PKI("ca.crt"),
		},
		Fault:             EnvironmentFault{Endpoint: endpoint(state.Ports.Fault())},
		KubernetesVersion: state.KubernetesVersion,
		PIDs:              l.allProcesses(state).PIDs(),
	}
	if state.Audit {
		environment.AuditLog = l.Dir.AuditLog()
	}
	if l.clusterAPIRuns(state) {
		version, err := l.clusterAPIVersion()
		if err != nil {
			return nil, err
		}
		environment.ClusterAPI = EnvironmentClusterAPI{
			Version:       version,
			OlderEndpoint: endpoint(state.Ports.OlderClusterAPI()),
			ClusterClass:  l.clusterAPIFile("cluster-class.yaml"),
		}
	}
	return environment, nil
}

func (l *Lab) running() (*layout.State, error) {
	state, err := l.Dir.LoadState()
	if layout.IsMissing(err) {
		return nil, fmt.Errorf("%w: `lab up --dir %s` has not come to its end", ErrNotRunning, l.Dir)
	}
	if err != nil {
		return nil, err
	}
	if missing := l.missing(state); !state.Ready || len(missing) > 0 {
		return nil, fmt.Errorf("%w: missing %s; `lab up --dir %s` repairs it", ErrNotRunning, strings.Join(missing, ", "), l.Dir)
	}
	return state, nil
}

// WriteJSON prints the environment as one JSON object.
func (e *Environment) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(e)
}

// WriteShell prints the environment as shell assignments, to be read with eval.
func (e *Environment) WriteShell(w io.Writer) error {
	return shell.Export(w, [][2]string{
		{"KUBECONFIG", e.Kubeconfig},
		{"LAB_DIR", e.Dir},
		{"LAB_ENDPOINT", e.Endpoint},
		{"LAB_CA_FILE", e.CAFile},
		{"LAB_ADMIN_TOKEN", e.AdminToken},
		{"LAB_CLIENT_CERTIFICATE_FILE", e.ClientCertificateFile},
		{"LAB_CLIENT_KEY_FILE", e.ClientKeyFile},
		{"LAB_LIMITED_TOKEN", e.LimitedToken},
		{"LAB_LIMITED_NAMESPACE", e.LimitedNamespace},
		{"LAB_BASIC_ENDPOINT", e.Basic.Endpoint},
		{"LAB_BASIC_USERNAME", e.Basic.Username},
		{"LAB_BASIC_PASSWORD", e.Basic.Password},
		{"LAB_FAULT_ENDPOINT", e.Fault.Endpoint},
		{"LAB_AUDIT_LOG", e.AuditLog},
		{"LAB_KUBERNETES_VERSION", e.KubernetesVersion},
		{"LAB_CLUSTER_API_VERSION", e.ClusterAPI.Version},
		{"LAB_CLUSTER_API_OLDER_ENDPOINT", e.ClusterAPI.OlderEndpoint},
		{"LAB_CLUSTER_CLASS", e.ClusterAPI.ClusterClass},
	})
}

// Kubeconfig is the path of the administrator's kubeconfig.
func (l *Lab) Kubeconfig() string { return l.Dir.Kubeconfig(kubeconfigAdmin) }
