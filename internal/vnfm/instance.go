package vnfm

import (
	"encoding/json"
	"slices"
	"time"
)

// LabelPrefix is that of every label and annotation that drivers set, and
// InstanceLabel the label that holds the id of the instance that an object is of.
const (
	LabelPrefix   = "vnf.nfv-iac.github.io/"
	InstanceLabel = LabelPrefix + "instance-id"
)

// InstanceSpec is the state that a user wants a VNF instance to be in. The
// manager derives the LCM operations that lead there.
type InstanceSpec struct {
	Name        string
	Description string
	Metadata    map[string]string
	VIMID       string
	PackageID   string
	// Cluster is set for a workload cluster, which has no package of its own.
	Cluster *ClusterSpec
	// Connections are further VIMs by a name that the user gives them, with the part
	// of the instance that is there.
	Connections map[string]Connection
	// Links are the networks that the instance is given.
	Links Links
	// FlavourID and LevelID may be empty: the VNFD's default is meant.
	FlavourID string
	LevelID   string
	// ScaleLevels overrides the level of single scaling aspects.
	ScaleLevels map[string]int
	// Namespace receives namespaced objects that name none; empty means the
	// default namespace of the VIM.
	Namespace        string
	AdditionalParams map[string]any
	// ParamsLater are the AdditionalParams of which something is known only later, and null
	// until then.
	ParamsLater []string `json:"-"`
	// SecretParams are merged over AdditionalParams (MergeDeep) and reach no record in clear.
	// With SecretsLater set some are known only later: something of those that
	// SecretNamesLater has, which is null until then; without a name it is not known of which.
	SecretParams     map[string]any `json:"-"`
	SecretsLater     bool           `json:"-"`
	SecretNamesLater []string       `json:"-"`
	// Management are the parameters of the management drivers, the secret ones among them,
	// and InfraSecrets the SecretParams of the infra driver. The manager parts them itself.
	Management       map[string]any `json:"-"`
	InfraSecrets     map[string]any `json:"-"`
	OperationalState OperationalState
	OnFailure        OnFailure
	// ForceConflicts takes fields over that another field manager owns.
	ForceConflicts bool
	// AdoptExisting takes objects over that exist and belong to no instance.
	AdoptExisting bool
	// ReplaceObjects are the objects, by their identity as written, that may be
	// deleted and created again when a field is immutable.
	ReplaceObjects []string
	// ScaleInVNFCIDs are the VNFCs that go when a scale takes some of their VDU away.
	ScaleInVNFCIDs []string
	// AvailabilityZones are those of the VIM's compute service that new servers go to, in the order of preference. Empty leaves
	// the choice to the service. Servers that are there stay where they are.
	AvailabilityZones []string
	// Warn, when set, is called with what the user should know of an operation that goes on. Several VIMs may call it at a time.
	Warn func(Problem) `json:"-"`
	// Heal, when its trigger is not the last one that the instance was healed for,
	// runs once.
	Heal *HealSpec
	// Regenerate, when its trigger is not the last one, has results of random functions of the
	// chart made again once.
	Regenerate *RegenerateSpec
	// RotationTrigger, when it is not the last one, has the kubeconfig of a workload
	// cluster replaced once.
	RotationTrigger string
	// Sink, when set, is sent the kubeconfigs of workload clusters.
	Sink *CredentialsSink
	// Readiness says of single kinds when their objects are ready.
	Readiness []ReadinessRule
	// UnknownDrivers says what becomes of hooks whose management driver is not known; empty means UnknownDriversError.
	UnknownDrivers UnknownDrivers
	// Arguments are the arguments as the user has written them, as JSON without secrets; empty when they are not known.
	Arguments json.RawMessage
	// Known is what Terraform's state says of an instance; a record that the store has lost is written again from it.
	Known KnownState
}

// KnownState is what Terraform's state says of an instance besides its arguments.
type KnownState struct {
	Status     InstanceStatus
	Generation int64
	// InSync says that the refresh has found every object as it was applied. An update then repairs nothing that changed after the plan:
	// it does what the plan has shown, and the next one shows the rest.
	InSync bool
	// Gone says that the instance was complete, and that the refresh has found it missing or being deleted: an update instantiates it
	// again.
	Gone bool
	// RegisteredVIMID is the VIM that the instance is, see Instance.
	RegisteredVIMID string
	// Ending says that nothing but a termination follows, for which the package may be lost.
	Ending bool
	// OnUnreachable and DefaultOnUnreachable are those of the termination that follows. OnUnreachableForget does without what only the
	// VIM knows.
	OnUnreachable, DefaultOnUnreachable OnUnreachable
}

// Noun names what the specification is of, in texts for people.
func (s *InstanceSpec) Noun() string { return nounOf(s.Cluster) }

func nounOf(c *ClusterSpec) string {
	if c != nil {
		return "workload cluster"
	}
	return "VNF instance"
}

// HealSpec asks for a HEAL operation (SOL003 5.4.9): some VNFCs, all of some VDUs,
// or the whole instance.
type HealSpec struct {
	// Trigger is any text: the operation runs once for each new one.
	Trigger string
	// Cause is why, for the record of the operation.
	Cause string
	// VNFCIDs are VNFCs to be replaced, VDUIDs VDUs whose VNFCs are all replaced, as
	// gently as the VDU's workload does it. Both empty means the whole instance: what
	// it consists of is applied again, and then all VDUs are healed.
	VNFCIDs []string
	VDUIDs  []string
	// Storage replaces the volumes that the VNFCs have to themselves, too. Their data is lost.
	Storage bool
	// ID is that of the operation, which began at Began: what was done for it is not
	// done twice.
	ID    string
	Began time.Time
}

// EntireInstance reports whether no VNFC and no VDU is named.
func (h *HealSpec) EntireInstance() bool { return len(h.VNFCIDs) == 0 && len(h.VDUIDs) == 0 }

// OperationalState is vnfState of SOL003.
type OperationalState string

const (
	// Started means that the VNFCs run.
	Started OperationalState = "started"
	// Stopped means that the instance exists and no VNFC runs.
	Stopped OperationalState = "stopped"
)

// OnFailure says what becomes of an operation that fails after it made something. Only a rollback is the engine's
// matter: what a creation that keeps what exists tells Terraform is up to the resource.
type OnFailure string

const (
	// OnFailureFail keeps what exists. A creation that fails is an error, and Terraform marks its object as tainted.
	OnFailureFail OnFailure = "fail"
	// OnFailureResume keeps what exists; the next apply continues. A creation that fails is a warning.
	OnFailureResume OnFailure = "resume"
	// OnFailureRollback restores what was before the operation.
	OnFailureRollback OnFailure = "rollback"
)

// InstanceStatus sums up an instance for its user.
type InstanceStatus string

const (
	// StatusInstantiated means that the last operation is COMPLETED.
	StatusInstantiated InstanceStatus = "INSTANTIATED"
	// StatusFailedTemp means that the last operation stopped half-way and that
	// the next apply continues it.
	StatusFailedTemp InstanceStatus = "FAILED_TEMP"
	// StatusProcessing means that an operation runs, in this or in another process.
	StatusProcessing InstanceStatus = "PROCESSING"
	// StatusDeleting means that the last refresh found the Cluster of a workload cluster being deleted. No record has it.
	StatusDeleting InstanceStatus = "DELETING"
	// StatusDeleted means that the last refresh found the Cluster of a workload cluster missing. No record has it.
	StatusDeleted InstanceStatus = "DELETED"
	// StatusUnknown means that the store holds no record of the instance.
	StatusUnknown InstanceStatus = "UNKNOWN"
)

// Instance is the record of a VNF instance.
type Instance struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
	VIMID       string            `json:"vim_id"`
	Namespace   string            `json:"namespace"`
	// PackageID is the package that the instance runs.
	PackageID string `json:"package_id"`
	// Cluster is set for a workload cluster, whose package is made of it.
	Cluster          *ClusterSpec   `json:"cluster,omitempty"`
	VNFDID           string         `json:"vnfd_id"`
	FlavourID        string         `json:"flavour_id"`
	LevelID          string         `json:"level_id,omitempty"`
	ScaleLevels      map[string]int `json:"scale_levels,omitempty"`
	ScaleStatus      map[string]int `json:"scale_status,omitempty"`
	AdditionalParams map[string]any `json:"additional_params,omitempty"`
	// SecretParams is set when the infra driver has secret parameters besides, which are sealed
	// with the record.
	SecretParams bool `json:"secret_params,omitempty"`
	// Connections are the further VIMs by name. One without VDUs and manifests was
	// taken away and still holds something.
	Connections      map[string]Connection `json:"connections,omitempty"`
	Links            Links                 `json:"links,omitzero"`
	OperationalState OperationalState      `json:"operational_state"`
	Readiness        []ReadinessRule       `json:"readiness,omitempty"`
	Status           InstanceStatus        `json:"status"`
	// DigestKey keys the digests of what holds secrets. It is made with the instance and never
	// changes; the infra driver keeps it beside the objects as well.
	DigestKey []byte `json:"digest_key,omitempty"`
	// HasResults is set when random functions of the chart have given Results, which are sealed
	// with the record. The infra driver keeps them beside the objects as well.
	HasResults bool     `json:"has_results,omitempty"`
	Results    *Results `json:"-"`
	// RegenerateTrigger is that of the last RegenerateSpec.
	RegenerateTrigger string `json:"regenerate_trigger,omitempty"`
	// AddonTriggers are those of the last RegenerateSpec of each add-on that had one.
	AddonTriggers map[string]string `json:"addon_triggers,omitempty"`
	// Recovered says that the record was written again from Terraform's state. Facts that the state does not hold, such as
	// the parameters that management drivers have used and the deliveries to a sink, are assumed to be those of the next update.
	Recovered bool `json:"recovered,omitempty"`
	// Generation rises with every scale, heal and package change.
	Generation int64 `json:"generation"`
	// HealTrigger is the trigger of the last heal that was asked for.
	HealTrigger string `json:"heal_trigger,omitempty"`
	// Rotation is the last replacement of a workload cluster's kubeconfig.
	Rotation *Rotation `json:"rotation,omitempty"`
	// Deliveries are what a credentials sink was sent last, by namespace and name of the
	// workload cluster.
	Deliveries map[string]Delivery `json:"deliveries,omitempty"`
	// DriverStates are what management drivers keep of the instance, HostKeys the keys of
	// hosts that they met.
	DriverStates DriverStates      `json:"driver_states,omitempty"`
	HostKeys     map[string]string `json:"host_keys,omitempty"`
	// ConfiguredDigest is the keyed digest of the parameters that management drivers have
	// worked with.
	ConfiguredDigest string `json:"configured_digest,omitempty"`
	// RegisteredVIMID is the VIM that a management driver has registered: the cluster that
	// the instance is.
	RegisteredVIMID string `json:"registered_vim_id,omitempty"`
	// Inventory lists what the driver made, for pruning and termination.
	Inventory []InventoryItem `json:"inventory,omitempty"`
	// Arguments are those of the InstanceSpec, for an import. The manager does not read them.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// VIMShares are, by the id of a VIM, the shares of the vnf_vim resources that are managed together with the instance, as reads
	// have shown.
	VIMShares map[string]string `json:"vim_shares,omitempty"`
	// Acknowledged is set once Terraform has closed the provider that created the instance, or a Read has seen it: Terraform's state
	// holds its id, so a later Create under the same name is somebody else's.
	Acknowledged bool      `json:"acknowledged"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
}

// InstanceKind says what an instance is.
type InstanceKind string

const (
	// NetworkFunction is an instance of a VNF package.
	NetworkFunction InstanceKind = "network function"
	// WorkloadCluster is a workload cluster of Cluster API.
	WorkloadCluster InstanceKind = "workload cluster"
)

// Kind returns what the record is of.
func (i *Instance) Kind() InstanceKind {
	if i.Cluster != nil {
		return WorkloadCluster
	}
	return NetworkFunction
}

// Noun names what the record is of, in texts for people.
func (i *Instance) Noun() string { return nounOf(i.Cluster) }

// OnVIM reports whether a part of the instance is on a VIM, or made with its credentials.
func (i *Instance) OnVIM(vimID string) bool {
	if i.Cluster != nil && i.Cluster.OpenStack != nil && i.Cluster.OpenStack.VIMID == vimID {
		return true
	}
	for _, c := range i.Connections {
		if c.VIMID == vimID {
			return true
		}
	}
	return i.VIMID == vimID
}

// ClusterRef names the workload cluster that the instance is.
func (i *Instance) ClusterRef() ClusterRef {
	return ClusterRef{VIMID: i.VIMID, Namespace: i.Namespace, Name: i.Cluster.Name}
}

// InventoryType says what an item of an inventory is.
type InventoryType string

const (
	// InventoryObject is an object of Kubernetes.
	InventoryObject InventoryType = ""
	// InventoryStack is a Heat stack.
	InventoryStack InventoryType = "stack"
	// InventoryCredential is an application credential of Keystone.
	InventoryCredential InventoryType = "credential"
	// InventoryCloudConfig is a Secret on a workload cluster with the configuration of its cloud provider.
	InventoryCloudConfig InventoryType = "cloud-config"
)

// InventoryItem is one object or resource that belongs to an instance.
type InventoryItem struct {
	Type InventoryType `json:"type,omitempty"`
	// Key is the identity as the package writes it.
	Key string `json:"key"`
	// Group, Version, Kind and Namespace are the identity of an object on the server, with
	// Name, which everything has.
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// UserID is the owner of a credential.
	UserID string `json:"user_id,omitempty"`
	// Connection names the VIM when it is not the instance's own.
	Connection string `json:"connection,omitempty"`
	// Addon names the add-on of a workload cluster, on that cluster, that the item is of.
	Addon string `json:"addon,omitempty"`
	// UID is set once the object exists.
	UID string `json:"uid,omitempty"`
	// Hook is set when a hook made the object: it is not an object of the package's
	// state and stays as long as the hook says, but not longer than the instance.
	Hook bool `json:"hook,omitempty"`
	// Posted is the digest of an object that was posted once and of which the VIM keeps nothing; empty for what exists.
	Posted string `json:"posted,omitempty"`
}

// Preview is what an instance will consist of, computed offline.
type Preview struct {
	FlavourID   string
	LevelID     string
	VNFDID      string
	ScaleStatus map[string]int
	VDUs        map[string]VDUState
	// Objects maps the identity as written, "group/version/Kind namespace/name",
	// to the digest of the rendered object. The digest is empty when it needs a key that
	// the target does not have.
	Objects map[string]string
	// NamespaceNeeded is set when objects depend on the namespace of the instance,
	// which was not given: they are others as soon as it is known.
	NamespaceNeeded bool
	// RegistersVIM is set when a management driver registers a VIM.
	RegistersVIM bool
	// NamesLater is set when it is not known before the apply which objects there are: it depends on results of random functions.
	// Objects and VDUs are then not those of the apply.
	NamesLater bool
	// ShownSecrets are the paths of AdditionalParams that the package declares to be secret.
	ShownSecrets []string
}

// Rendering is a preview with the objects themselves.
type Rendering struct {
	Preview
	// Contents maps the identity as written to the object as YAML, with the values
	// of Secrets masked.
	Contents map[string]string
	// Fields are the same objects as they decode, for a comparison with another rendering: values of Secrets are replaced by something
	// that differs when they do, and what is not known before the apply is left out.
	Fields map[string]any
	// FieldRules are about the Fields.
	FieldRules FieldRules
	// Kept says what stays on the VIM when an object leaves the instance: the object itself, or what it has made.
	Kept map[string]string
	// Units are what runs, by names for people: the id of a VDU, a Job, a node group.
	Units map[string]Unit
	// Created and Upgraded are what is run around a creation, and around an operation that makes another Revision.
	Created, Upgraded RenderedHooks
	// Revision is the digest of what a revision of a Helm chart consists of; empty without one.
	Revision string
}

// RenderedHooks are the hooks that a Helm chart brings, by names for people.
type RenderedHooks struct{ Before, After []string }

// With returns these hooks and those of another chart.
func (h RenderedHooks) With(more RenderedHooks) RenderedHooks {
	return RenderedHooks{Before: slices.Concat(h.Before, more.Before), After: slices.Concat(h.After, more.After)}
}

// VDUState is one VDU of an instance.
type VDUState struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Replicas is nil when an autoscaler or the kind itself (DaemonSet) decides.
	Replicas   *int `json:"replicas,omitempty"`
	Autoscaled bool `json:"autoscaled"`
}

// Posted begins the digest of an object that the API server answers and keeps nothing of, such as a SubjectAccessReview: it is
// posted once and not tracked.
const Posted = "posted: "

// Drifted begins the text about an object that differs from what was applied.
const Drifted = "drifted: "

// DriftSeparator separates the differences of an add-on after Drifted.
const DriftSeparator = "; "

// Observation is what a driver sees of an instance on its VIM.
type Observation struct {
	VDUs map[string]VDUState
	// Objects has the digest of each object that is as it was applied, or
	// "drifted: <field paths>"; an object that is gone is absent.
	Objects map[string]string
	// Gone are the keys of the objects of the target that do not exist.
	Gone []string
	// Cluster is set for a workload cluster that is there.
	Cluster *ClusterState
	// Unseen are the VIM connections that could not be refreshed, "" for the instance's
	// own VIM. Their objects are not among the others.
	Unseen []string
	// Unread are the keys of the objects that the credentials may not read, which are not
	// among the others; the observation then comes with a *RightsError.
	Unread []string
	// Warnings are what the user is to know of what was seen, and is no drift.
	Warnings Problems
}

// The states of a VNFC that its driver replaces without being asked: its server, or
// whatever it is, is gone, or has failed for good.
const (
	VNFCGone  = "GONE"
	VNFCError = "ERROR"
)

// VNFC is one VNF component: a pod, a server.
type VNFC struct {
	ID    string `json:"id"`
	VDUID string `json:"vdu_id"`
	// Resource is the name of the pod or server, Node the host it runs on.
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Node      string `json:"node,omitempty"`
	// Zone is the availability zone of a server.
	Zone      string   `json:"zone,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	// ConnectionPoints are the addresses by connection point (vnfcCpInfo of SOL003), as far as
	// the VIM tells them apart.
	ConnectionPoints map[string][]string `json:"connection_points,omitempty"`
	// Volumes are the ids of volumes, or the names of persistent volume claims.
	Volumes   []string  `json:"volumes,omitempty"`
	State     string    `json:"state"`
	Ready     bool      `json:"ready"`
	Restarts  int       `json:"restarts"`
	Message   string    `json:"message,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// Dialled is the address at which a server is reached from outside by a connection point: a
// floating one where the server has one, since a connection point's own may not be reached,
// or else the connection point's first. It is empty when there is none.
func (c *VNFC) Dialled(point string) string {
	own := c.ConnectionPoints[point]
	if len(own) == 0 {
		return ""
	}
	fixed := map[string]bool{}
	for _, addresses := range c.ConnectionPoints {
		for _, address := range addresses {
			fixed[address] = true
		}
	}
	// The addresses of floating IPs come last.
	if last := c.Addresses[max(len(c.Addresses)-1, 0):]; len(c.Addresses) > len(fixed) && !fixed[last[0]] {
		return last[0]
	}
	return own[0]
}

// ResourceInfo is what an instance consists of on its VIMs now (vnfcResourceInfo and
// vnfVirtualLinkResourceInfo of SOL003).
type ResourceInfo struct {
	VNFCs []VNFC
	// VirtualLinks are the ids of networks by the internal virtual link that they are, as far
	// as the VIM has networks.
	VirtualLinks map[string]string
	// VDUs and Objects are what the instance consists of by its record: the VDUs by id, and the objects by their identity as written.
	VDUs    map[string]VDUState
	Objects []string
}

// TerminationType is terminationType of SOL003.
type TerminationType string

const (
	// Graceful lets VNFCs end by themselves within the timeout.
	Graceful TerminationType = "graceful"
	// Forceful ends VNFCs at once.
	Forceful TerminationType = "forceful"
)

// VolumePolicy says what becomes of volumes when an instance is terminated.
type VolumePolicy string

const (
	// VolumesDefault is the default of the VIM: on Kubernetes volumes stay, on OpenStack they
	// go with the stack unless its template keeps them.
	VolumesDefault VolumePolicy = ""
	// VolumesKeep leaves them where they are.
	VolumesKeep VolumePolicy = "keep"
	// VolumesDelete deletes them with the instance.
	VolumesDelete VolumePolicy = "delete"
	// VolumesDeleteNew deletes those that came with the instance and leaves those
	// that were there before it: a creation is undone that way.
	VolumesDeleteNew VolumePolicy = "delete-new"
)

// SharedPolicy says what becomes of what others may have come to use: a namespace
// that was made for an instance, the definition of a kind.
type SharedPolicy string

const (
	// SharedDelete deletes it unless somebody else uses it. It is what an empty
	// policy means.
	SharedDelete SharedPolicy = "delete"
	// SharedKeep leaves it behind.
	SharedKeep SharedPolicy = "keep"
)

// TerminateSpec says how an instance is terminated.
type TerminateSpec struct {
	Type TerminationType
	// GracePeriod bounds a graceful end; zero takes each pod's own.
	GracePeriod time.Duration
	Volumes     VolumePolicy
	// Namespace is for the namespace that was made for the instance, Definitions for
	// the definitions of kinds that its package brought.
	Namespace   SharedPolicy
	Definitions SharedPolicy
	// OnUnreachable says what to do when no VIM of the instance can be reached. When it is empty, what the VIM of the instance says
	// holds, and then DefaultOnUnreachable; empty means OnUnreachableFail.
	OnUnreachable, DefaultOnUnreachable OnUnreachable
	// LeftBehind, when set, is called with each object that stays although it was to be deleted,
	// and why.
	LeftBehind func(object, reason string)
}

// OnUnreachable says what becomes of a termination whose VIM cannot be reached.
type OnUnreachable string

const (
	// OnUnreachableFail fails, and keeps the record.
	OnUnreachableFail OnUnreachable = "fail"
	// OnUnreachableForget removes the record and leaves everything on the VIM behind.
	OnUnreachableForget OnUnreachable = "forget"
)
