package vnfm

import (
	"context"
	"fmt"
	"time"
)

// ClusterSpec is what a user wants a workload cluster of Cluster API to be. To the
// manager a workload cluster is an instance whose package is made of this: its
// objects are on the management cluster, which is the instance's VIM.
type ClusterSpec struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// APIVersion is the version of the group cluster.x-k8s.io that generated objects
	// are written in, "v1beta1" or "v1beta2".
	APIVersion string `json:"api_version,omitempty"`
	// KubernetesVersion is that of control plane and nodes, "v1.34.0".
	KubernetesVersion string `json:"kubernetes_version,omitempty"`

	// Exactly one of the forms is set.
	Topology *ClusterTopology `json:"topology,omitempty"`
	Chart    *ClusterChart    `json:"chart,omitempty"`
	Template *ClusterTemplate `json:"template,omitempty"`

	Labels       map[string]string    `json:"labels,omitempty"`
	Annotations  map[string]string    `json:"annotations,omitempty"`
	Network      *ClusterNetwork      `json:"network,omitempty"`
	ControlPlane ClusterControlPlane  `json:"control_plane"`
	NodeGroups   map[string]NodeGroup `json:"node_groups,omitempty"`
	// OpenStack is the cloud of the machines, for those forms that have one.
	OpenStack *ClusterOpenStack `json:"openstack,omitempty"`
	// Addons are charts on the workload cluster, by name.
	Addons map[string]Addon `json:"addons,omitempty"`
	// Paused stops all controllers of Cluster API from working on the cluster, or has them resume.
	// Nil leaves it to others.
	Paused *bool `json:"paused,omitempty"`
	// RolloutAfter, a time in RFC 3339, makes control plane and nodes be replaced
	// that are older.
	RolloutAfter string `json:"rollout_after,omitempty"`
	// Results are those of random functions of the chart; a chart that depends on any is refused without. With MakeResults those that
	// are missing are made, else what depends on them is not known. Regenerate says which are made again.
	Results     *Results        `json:"-"`
	MakeResults bool            `json:"-"`
	Regenerate  *RegenerateSpec `json:"-"`
}

// IsPaused reports whether the specification pauses the cluster.
func (s *ClusterSpec) IsPaused() bool { return s.Paused != nil && *s.Paused }

// ClusterTopology is the form of a cluster that a ClusterClass describes.
type ClusterTopology struct {
	Class string `json:"class"`
	// ClassNamespace is that of the ClusterClass; empty means the cluster's own.
	ClassNamespace string         `json:"class_namespace,omitempty"`
	Variables      map[string]any `json:"variables,omitempty"`
}

// ClusterTemplate is the form of a cluster template of clusterctl: YAML with
// ${VARIABLES}.
type ClusterTemplate struct {
	Content   string            `json:"content"`
	Variables map[string]string `json:"variables,omitempty"`
	// First has the digests of the contents for which templates of machines have the names
	// that Content gives them. With another content they have another name.
	First map[string]string `json:"first,omitempty"`
	// Known are the objects that the cluster was last seen to have, for one whose record
	// was lost. They are never kept.
	Known []string `json:"-"`
}

// ClusterNetwork is clusterNetwork of a Cluster.
type ClusterNetwork struct {
	PodCIDRs      []string `json:"pod_cidrs,omitempty"`
	ServiceCIDRs  []string `json:"service_cidrs,omitempty"`
	ServiceDomain string   `json:"service_domain,omitempty"`
	APIServerPort int      `json:"api_server_port,omitempty"`
	// Internal is the network of the machines, Subnet the one of it that they are in;
	// External the network that floating IPs come from.
	Internal *CloudResource `json:"internal,omitempty"`
	Subnet   *CloudResource `json:"subnet,omitempty"`
	External *CloudResource `json:"external,omitempty"`
}

// CloudResource is what is in a cloud already, by its id or by what it is found by.
type CloudResource struct {
	ID   string   `json:"id,omitempty"`
	Name string   `json:"name,omitempty"`
	Tags []string `json:"tags,omitempty"`
}

// RootVolume is a volume that a machine starts from, instead of the disk of its
// flavor.
type RootVolume struct {
	SizeGiB          int64  `json:"size"`
	Type             string `json:"type,omitempty"`
	AvailabilityZone string `json:"availability_zone,omitempty"`
}

// MachineNetwork is a network that machines have a port in. Without anything it is the
// internal network of the cluster.
type MachineNetwork struct {
	CloudResource
	Subnet *CloudResource `json:"subnet,omitempty"`
}

// MachinePlace is what machines are made of and where they are, on a cloud.
type MachinePlace struct {
	RootVolume *RootVolume      `json:"root_volume,omitempty"`
	Networks   []MachineNetwork `json:"networks,omitempty"`
}

// ClusterControlPlane is what a user says of the control plane. A nil pointer leaves
// to the form what it says.
type ClusterControlPlane struct {
	Replicas    *int64            `json:"replicas,omitempty"`
	Flavor      string            `json:"flavor,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Variables   map[string]any    `json:"variables,omitempty"`
	HealthCheck *HealthCheck      `json:"health_check,omitempty"`
	Deletion    *MachineDeletion  `json:"deletion,omitempty"`
	// FailureDomains are those that the machines are spread over.
	FailureDomains []string `json:"failure_domains,omitempty"`
	MachinePlace
}

// NodeGroup is a MachineDeployment of a workload cluster.
type NodeGroup struct {
	// Class is the worker class of a ClusterClass.
	Class string `json:"class,omitempty"`
	// Replicas is nil for a group that MinReplicas and MaxReplicas leave to an autoscaler.
	Replicas    *int64 `json:"replicas,omitempty"`
	MinReplicas *int64 `json:"min_replicas,omitempty"`
	MaxReplicas *int64 `json:"max_replicas,omitempty"`
	Flavor      string `json:"flavor,omitempty"`
	// Labels are those of the nodes, as far as Cluster API carries them over.
	Labels        map[string]string `json:"labels,omitempty"`
	Annotations   map[string]string `json:"annotations,omitempty"`
	Taints        []NodeTaint       `json:"taints,omitempty"`
	FailureDomain string            `json:"failure_domain,omitempty"`
	Variables     map[string]any    `json:"variables,omitempty"`
	HealthCheck   *HealthCheck      `json:"health_check,omitempty"`
	Rollout       *NodeRollout      `json:"rollout,omitempty"`
	Deletion      *MachineDeletion  `json:"deletion,omitempty"`
	// ScaleInMachineNames are the machines that are removed first when the group is scaled in.
	ScaleInMachineNames []string `json:"scale_in_machine_names,omitempty"`
	MachinePlace
}

// Autoscaled reports whether an autoscaler decides on the number of nodes.
func (g *NodeGroup) Autoscaled() bool { return g.MinReplicas != nil || g.MaxReplicas != nil }

// NodeTaint is a taint of the nodes of a group.
type NodeTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
	// Propagation is "Always" or "OnInitialization".
	Propagation string `json:"propagation,omitempty"`
}

// HealthCheck has unhealthy machines be replaced (MachineHealthCheck).
type HealthCheck struct {
	Enabled bool `json:"enabled"`
	// NodeStartupTimeout and UnhealthyTimeout are whole seconds; zero is the form's.
	NodeStartupTimeout time.Duration `json:"node_startup_timeout,omitempty"`
	UnhealthyTimeout   time.Duration `json:"unhealthy_timeout,omitempty"`
	// MaxUnhealthy is a number or a percentage above which nothing is replaced.
	MaxUnhealthy string `json:"max_unhealthy,omitempty"`
}

// NodeRollout says how the nodes of a group are replaced.
type NodeRollout struct {
	// Type is "RollingUpdate" or "OnDelete".
	Type           string `json:"type,omitempty"`
	MaxSurge       string `json:"max_surge,omitempty"`
	MaxUnavailable string `json:"max_unavailable,omitempty"`
}

// MachineDeletion bounds the steps of a machine's deletion, in whole seconds. Nil leaves a
// bound to the form.
type MachineDeletion struct {
	NodeDrainTimeout        *time.Duration `json:"node_drain_timeout,omitempty"`
	NodeVolumeDetachTimeout *time.Duration `json:"node_volume_detach_timeout,omitempty"`
	NodeDeletionTimeout     *time.Duration `json:"node_deletion_timeout,omitempty"`
}

// ClusterState is what a management cluster says of a workload cluster.
type ClusterState struct {
	// Phase is that of the Cluster: Pending, Provisioning, Provisioned, Deleting.
	Phase     string
	Available bool
	Paused    bool
	// Endpoint is the URL of the workload API, CACertificate its CA as PEM.
	Endpoint      string
	CACertificate string
	// Version is the lowest version that a machine of the control plane has.
	Version        string
	ControlPlane   GroupState
	NodeGroups     map[string]GroupState
	FailureDomains []string
	Conditions     []Condition
	// KubeconfigNotAfter is when the client certificate of the kubeconfig expires;
	// zero when there is none.
	KubeconfigNotAfter time.Time
	// AuthoritiesNotAfter is when the first certificate authority of the cluster expires, and ControlPlaneNotAfter the first
	// certificate of a machine of the control plane; zero when that is not known.
	AuthoritiesNotAfter  time.Time
	ControlPlaneNotAfter time.Time
	// CredentialExpiresAt is when the application credential of the cluster expires; zero for never.
	CredentialExpiresAt time.Time
	// OtherKubelets describes the nodes whose kubelet reports another version than their machines have.
	OtherKubelets []string
	// InstanceID is that of the instance whose label the Cluster has; empty for none.
	InstanceID string
	// DeletingSince is the deletion timestamp of the Cluster; zero when it is not being deleted.
	// Finalizers are then those that it still has.
	DeletingSince time.Time
	Finalizers    []string
}

// IsDeleting reports whether the Cluster is being deleted.
func (s *ClusterState) IsDeleting() bool { return !s.DeletingSince.IsZero() }

// GroupState counts the machines of a control plane or node group.
type GroupState struct {
	Desired   int64
	Replicas  int64
	Ready     int64
	Available int64
	UpToDate  int64
	Version   string
}

// Condition is a condition of an object.
type Condition struct {
	Type    string
	Status  string
	Reason  string
	Message string
	// Generation is that of the object which the condition is about; 0 when it does not say.
	Generation int64
}

// ClusterRef names a workload cluster on its management cluster.
type ClusterRef struct {
	VIMID     string `json:"management_vim_id"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Renewal returns KubernetesConnection.Renew of the workload cluster: it reads the kubeconfig that is in its place now.
func (r ClusterRef) Renewal(read func(ctx context.Context) (*Kubeconfig, error)) func(ctx context.Context) (Secret, error) {
	return func(ctx context.Context) (Secret, error) {
		k, err := read(ctx)
		if err != nil {
			return "", fmt.Errorf("reading the kubeconfig of workload cluster %s/%s from its management cluster: %w", r.Namespace, r.Name, err)
		}
		if err := k.Expired(r); err != nil {
			return "", err
		}
		Conceal(ctx, k.Raw.Reveal())
		return k.Raw, nil
	}
}

// KubeconfigSpec says which kubeconfig of a workload cluster is wanted.
type KubeconfigSpec struct {
	// Wait is how long to wait until the workload API answers with it; zero
	// takes what there is.
	Wait time.Duration
	// Waiting, when set, is called with the reason of each further wait.
	Waiting func(reason error)
	// ClientCertificate, when set, asks for a new client certificate, signed by the CA of the cluster.
	ClientCertificate *ClientCertificateSpec
}

// ClientCertificateSpec describes a client certificate that is issued.
type ClientCertificateSpec struct {
	CommonName    string
	Organizations []string
	TTL           time.Duration
}

// Kubeconfig gives access to a workload cluster.
type Kubeconfig struct {
	// Raw is the whole kubeconfig.
	Raw Secret
	// Host is the URL of the API server. CACertificate and ClientCertificate are PEM.
	Host              string
	CACertificate     string
	ClientCertificate string
	ClientKey         Secret
	Token             Secret
	// NotAfter is when the client certificate expires; zero when there is none.
	NotAfter time.Time
	// ID tells one kubeconfig of a cluster from the one that took its place.
	ID string
}

// Expired returns an ExpiredError when the kubeconfig of a cluster gives access no more.
func (k *Kubeconfig) Expired(ref ClusterRef) error {
	if k.NotAfter.IsZero() || time.Now().Before(k.NotAfter) {
		return nil
	}
	return &ExpiredError{Cluster: ref.Namespace + "/" + ref.Name, At: k.NotAfter}
}

// Rotation is the last replacement of a workload cluster's kubeconfig.
type Rotation struct {
	// Trigger is the text for which it was asked for.
	Trigger string `json:"trigger"`
	// Before is the id of the kubeconfig that goes: when it is gone already, nothing is
	// replaced a second time. Empty when there was none.
	Before string `json:"before,omitempty"`
	// Done is set once there was another kubeconfig and the workload API answered with it.
	Done bool `json:"done,omitempty"`
}

// ClusterDriver knows Cluster API. It stands on the infra driver of the management
// cluster, which makes and compares the objects.
type ClusterDriver interface {
	// Package renders the objects of a workload cluster as a package with one file of
	// manifests. It is the same for the same specification.
	Package(spec *ClusterSpec) (*Package, Problems)
	// CarryOver fills into a wanted specification what depends on the present one, which is nil for a
	// cluster without a record: names of objects, and a trigger that the arguments leave out.
	CarryOver(wanted, present *ClusterSpec)
	// Over returns an infra driver that makes what Package renders with another one,
	// and knows when a workload cluster is ready and how it is removed.
	Over(infra InfraDriver) InfraDriver
	// Look reads what the management cluster says of a workload cluster, and its
	// machines. One that is not there gives ErrNotFound.
	Look(ctx context.Context, management *VIM, credentials Credentials, ref ClusterRef) (*ClusterState, []VNFC, error)
	// List lists the workload clusters on a management cluster, in one namespace or, if it is empty, in all.
	List(ctx context.Context, management *VIM, credentials Credentials, namespace string) ([]ClusterRef, error)
	// Kubeconfig reads the kubeconfig of a workload cluster from its Secret.
	Kubeconfig(ctx context.Context, management *VIM, credentials Credentials, ref ClusterRef, spec KubeconfigSpec) (*Kubeconfig, error)
	// RegenerateKubeconfig replaces the kubeconfig of that id and waits until the
	// workload API answers with another one. One that has gone already is not replaced
	// again. The old one stays valid until its certificate expires.
	RegenerateKubeconfig(ctx context.Context, management *VIM, credentials Credentials, ref ClusterRef, before string, r Recorder) error
}
