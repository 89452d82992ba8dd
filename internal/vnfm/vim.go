package vnfm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// VIMType is the kind of a virtualised infrastructure manager.
type VIMType string

const (
	// VIMTypeKubernetes is a Kubernetes API server (ETSINFV.KUBERNETES.V_1).
	VIMTypeKubernetes VIMType = "kubernetes"
	// VIMTypeOpenStack is an OpenStack region and project (ETSINFV.OPENSTACK_KEYSTONE.V_3).
	VIMTypeOpenStack VIMType = "openstack"
)

// VIM is a registered virtualised infrastructure manager, without its secrets.
type VIM struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Type        VIMType `json:"type"`
	// Kubernetes is set when Type is kubernetes.
	Kubernetes *KubernetesConnection `json:"kubernetes,omitempty"`
	// OpenStack is set when Type is openstack.
	OpenStack *OpenStackConnection `json:"openstack,omitempty"`
	// PerRun says that each run brings the connection (VIMAccess): the record has none.
	PerRun bool `json:"per_run,omitempty"`
	// OnUnreachable is for instances on the VIM that have none of their own; empty leaves it to the default of each termination.
	OnUnreachable OnUnreachable `json:"on_unreachable,omitempty"`
	// Shared says that others share the VIM with the resource that holds it (HoldVIM).
	Shared bool `json:"-"`
	// Status and what follows it are what the last check saw.
	Status   VIMStatus `json:"status"`
	Endpoint string    `json:"endpoint,omitempty"`
	// ClusterUID tells one cluster, or one project, from another behind whatever
	// endpoint; empty when the credentials do not reach that far.
	ClusterUID    string `json:"cluster_uid,omitempty"`
	ServerVersion string `json:"server_version,omitempty"`
	// APIGroups are the API group/versions served, sorted.
	APIGroups []string `json:"api_groups,omitempty"`
	// Cloud is what an OpenStack VIM was seen to be.
	Cloud     *OpenStackState `json:"cloud,omitempty"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// Spec is what was said of the VIM when it was registered, for a check of it as it is.
func (v *VIM) Spec(credentials Credentials) VIMSpec {
	return VIMSpec{
		Name: v.Name, Description: v.Description, Type: v.Type, Kubernetes: v.Kubernetes, OpenStack: v.OpenStack,
		Credentials: credentials, ClusterUID: v.ClusterUID, OnUnreachable: v.OnUnreachable,
	}
}

// Saw takes over what a check saw.
func (v *VIM) Saw(check VIMCheck) {
	v.Status = VIMReachable
	v.ServerVersion, v.APIGroups, v.Endpoint, v.Cloud = check.ServerVersion, check.APIGroups, check.Endpoint, check.Cloud
}

// VIMStatus is the result of the last check of a VIM.
type VIMStatus string

const (
	// VIMReachable means that the VIM answered and accepted the credentials.
	VIMReachable VIMStatus = "REACHABLE"
	// VIMUnreachable means that the last check failed.
	VIMUnreachable VIMStatus = "UNREACHABLE"
	// VIMUnknown means that the store holds no record of the VIM although
	// Terraform's state does, or one that was edited or does not open: the next apply registers it again.
	VIMUnknown VIMStatus = "UNKNOWN"
)

// KubernetesConnection says where a Kubernetes API server is and how to talk to
// it. Exactly one way of authentication is set, here or in the Credentials.
type KubernetesConnection struct {
	// Endpoint is the URL of the API server; empty when a kubeconfig gives it.
	Endpoint string `json:"endpoint,omitempty"`
	// CACertificate is a PEM bundle; empty means the system's roots.
	CACertificate         string `json:"ca_certificate,omitempty"`
	InsecureSkipTLSVerify bool   `json:"insecure_skip_tls_verify,omitempty"`
	TLSServerName         string `json:"tls_server_name,omitempty"`
	ProxyURL              string `json:"proxy_url,omitempty"`
	// DefaultNamespace receives objects that name no namespace.
	DefaultNamespace string `json:"default_namespace,omitempty"`
	// Username goes with the credential "password".
	Username string `json:"username,omitempty"`
	// ClientCertificate is PEM and goes with the credential "client_key".
	ClientCertificate string `json:"client_certificate,omitempty"`
	// KubeconfigContext chooses a context of the credential "kubeconfig", or of KubeconfigPath.
	KubeconfigContext string `json:"kubeconfig_context,omitempty"`
	// TokenFile is the path of a file with a bearer token, which is read at each request.
	TokenFile string `json:"token_file,omitempty"`
	// Exec is a program that prints the credentials, whenever they have expired.
	Exec *ExecPlugin `json:"exec,omitempty"`
	// KubeconfigPath is the path of a kubeconfig, which may name files and a program. It and
	// InCluster, the service account of the pod of this process, are in no record.
	KubeconfigPath string `json:"kubeconfig_path,omitempty"`
	InCluster      bool   `json:"in_cluster,omitempty"`
	// KubeconfigRef names the workload cluster that the VIM is. Its credentials are read
	// from its management cluster at each use, and none are kept.
	KubeconfigRef *ClusterRef `json:"kubeconfig_ref,omitempty"`
	// PerRun says that the connection came with this run, for errors.
	PerRun bool `json:"-"`
	// Renew, when set, reads the credential "kubeconfig" again after the server refused it.
	Renew func(ctx context.Context) (Secret, error) `json:"-"`
}

// ExecPlugin is a program that prints an ExecCredential, as those that kubeconfigs name do.
type ExecPlugin struct {
	// Command is the path of the program, or its name on the PATH.
	Command string   `json:"command"`
	Args    []string `json:"args,omitempty"`
	// Env is added to the environment of this process.
	Env map[string]string `json:"env,omitempty"`
	// APIVersion is that of the ExecCredential, one of ExecAPIVersions.
	APIVersion string `json:"api_version"`
}

// ExecAPIVersions returns the versions of an ExecCredential, the newest first.
func ExecAPIVersions() []string {
	return []string{"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}
}

// UsesMachine returns the arguments that have the provider read files, or run a program, of
// the machine that it runs on: from a record these are taken only if a holder of the key wrote
// them.
func (c *KubernetesConnection) UsesMachine() []string {
	if c == nil {
		return nil
	}
	var names []string
	for _, a := range []struct {
		name string
		set  bool
	}{
		{ArgumentTokenFile, c.TokenFile != ""}, {ArgumentExec, c.Exec != nil},
		{ArgumentKubeconfigPath, c.KubeconfigPath != ""}, {ArgumentInCluster, c.InCluster},
	} {
		if a.set {
			names = append(names, a.name)
		}
	}
	return names
}

// Names of the arguments of a connection that say where credentials are read from.
const (
	ArgumentTokenFile      = "token_file"
	ArgumentExec           = "exec"
	ArgumentKubeconfigPath = "kubeconfig_path"
	ArgumentInCluster      = "in_cluster"
)

// Names of the credentials of a Kubernetes VIM.
const (
	CredentialBearerToken = "bearer_token"
	CredentialPassword    = "password"
	CredentialClientKey   = "client_key"
	CredentialKubeconfig  = "kubeconfig"
)

// Credentials are the secrets of a VIM by name. In the store they are sealed.
type Credentials map[string]Secret

// Secret is a text that never prints itself: formatting, JSON and logs show a
// mask. Reveal returns the text for the one place that needs it.
type Secret string

const mask = "(sensitive)"

// String returns a mask.
func (Secret) String() string { return mask }

// GoString returns a mask.
func (Secret) GoString() string { return mask }

// Format writes a mask whatever the verb is.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(mask)) }

// MarshalJSON encodes a mask: sealing uses Reveal.
func (Secret) MarshalJSON() ([]byte, error) { return json.Marshal(mask) }

// Reveal returns the secret text.
func (s Secret) Reveal() string { return string(s) }

// VIMSpec is what a user says of a VIM.
type VIMSpec struct {
	Name        string
	Description string
	Type        VIMType
	Kubernetes  *KubernetesConnection
	OpenStack   *OpenStackConnection
	Credentials Credentials
	// OnUnreachable is that of the VIM's instances, see VIM.
	OnUnreachable OnUnreachable
	// ClusterUID is what a check found of a VIM that is registered; one that knows it
	// does not ask for it again.
	ClusterUID string
	// CreatedAt is the time of an earlier registration whose record was lost; zero for none.
	CreatedAt time.Time
	// Share names the share that a resource of Terraform takes of the VIM; empty takes none. The VIM stays until the last
	// share is given up.
	Share string
	// Rebuilt says that the cluster was created again behind the same VIM: instances on the one
	// before are gone with it, and the next apply of each makes it again.
	Rebuilt bool
}

// instanceShare is what the names of the shares begin with that instances have.
const instanceShare = "instance/"

// InstanceShare names the share that an instance has of the VIM that it is.
func InstanceShare(instanceID string) string { return instanceShare + instanceID }

// IsInstanceShare reports whether a share is that of an instance.
func IsInstanceShare(share string) bool { return strings.HasPrefix(share, instanceShare) }

// VIMCheck is what an infra driver found when it checked a VIM.
type VIMCheck struct {
	ServerVersion string
	APIGroups     []string
	// Endpoint is the address that was reached, also when a kubeconfig gave it.
	Endpoint string
	// ClusterUID is that of the namespace kube-system, which lives as long as its
	// cluster, or the project; empty when it may not be read.
	ClusterUID string
	// Cloud is set for an OpenStack VIM.
	Cloud *OpenStackState
	// Roles are those of the credentials in the project, Quotas what the project may have. Both are of an OpenStack VIM.
	Roles  []string
	Quotas []VIMQuota
	// Problems are warnings, for example rights that an infra driver needs and
	// the credentials do not have.
	Problems Problems
}

// VIMQuota is a limit of a VIM. A negative limit is none.
type VIMQuota struct {
	// Service is where the limit is: a service of OpenStack, a ResourceQuota.
	Service string `json:"service"`
	Name    string `json:"name"`
	Limit   string `json:"limit"`
	// Used is empty where the VIM does not say it.
	Used string `json:"used,omitempty"`
}

// DefaultNamespace is the namespace of a VIM that sets none.
const DefaultNamespace = "default"

// DefaultNamespace is the namespace of instances that name none: that of the VIM,
// else what Kubernetes itself takes. A VIM that is not known yet has no own, and an
// OpenStack has no namespaces at all.
func (v *VIM) DefaultNamespace() string {
	if v != nil && v.Type == VIMTypeOpenStack {
		return ""
	}
	if v != nil && v.Kubernetes != nil && v.Kubernetes.DefaultNamespace != "" {
		return v.Kubernetes.DefaultNamespace
	}
	return DefaultNamespace
}
