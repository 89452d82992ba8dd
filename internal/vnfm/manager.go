package vnfm

import (
	"context"
	"time"
)

// Manager is a VNF manager: what the Terraform objects ask for and what the
// embedded engine, or a remote SOL003 VNFM, gives. All methods honour ctx.
type Manager interface {
	VIMManager
	PackageManager
	InstanceManager
	ChartManager
	ClusterManager
	RegistryManager
}

// VIMManager registers VIMs.
type VIMManager interface {
	// CheckVIM connects to the VIM, authenticates and reads what it offers; it stores nothing.
	CheckVIM(ctx context.Context, spec VIMSpec) (VIMCheck, error)
	// RegisterVIM checks the VIM and stores it. One that has the name and is at the same place is shared: its id is returned, and its
	// record is replaced; at another place it is an InvalidError about the name. With a non-empty id a VIM whose
	// record was lost is registered again under the same id.
	RegisterVIM(ctx context.Context, id string, spec VIMSpec) (*VIM, Problems, error)
	// UpdateVIM checks the VIM and replaces its record and credentials. While others share it, another name and another place are
	// InvalidErrors about the name.
	UpdateVIM(ctx context.Context, id string, spec VIMSpec) (*VIM, Problems, error)
	// SetOnUnreachable changes that of a VIM. It does not dial.
	SetOnUnreachable(ctx context.Context, id string, value OnUnreachable) error
	// VIM reads a record. It does not dial.
	VIM(ctx context.Context, id string) (*VIM, error)
	// CheckRegisteredVIM dials a registered VIM with its sealed credentials. When
	// that fails the VIM is returned as UNREACHABLE together with the error. A limit
	// that is not 0 is the time that the VIM has to answer.
	CheckRegisteredVIM(ctx context.Context, id string, limit time.Duration) (*VIM, error)
	VIMByName(ctx context.Context, name string) (*VIM, error)
	// VIMs lists records in the order of their creation. It does not dial.
	VIMs(ctx context.Context, filter VIMFilter) ([]VIM, error)
	// VIMAccess is how this run reaches a VIM, by its id or else its name. An entry that is
	// missing is an InvalidError about the name.
	VIMAccess(id, name string) (VIMAccess, error)
	// EnsureVIM registers a VIM again whose record was lost, if this run has its connection. It
	// refuses a connection that leads to another cluster or project than the one that was known.
	EnsureVIM(ctx context.Context, known KnownVIM) error
	// KnownVIM is what EnsureVIM needs later. It is ErrNotFound without a record.
	KnownVIM(ctx context.Context, id string) (KnownVIM, error)
	// DeregisterVIM removes a VIM whoever shares it, or returns an InUseError. Not found is success.
	DeregisterVIM(ctx context.Context, id string) error
	// HoldVIM is VIM for a resource of Terraform that has a share (see VIMSpec), which is noted.
	HoldVIM(ctx context.Context, id, share string) (*VIM, error)
	// ReleaseVIM gives a share up, and deregisters the VIM if nobody else has one. Not found is success.
	ReleaseVIM(ctx context.Context, id, share string) error
	// ForgetShares drops the shares of a VIM that resources of Terraform have. Those that are still there come back with their next
	// read (HoldVIM).
	ForgetShares(ctx context.Context, id string) error
	// PlanVIM refuses offline what RegisterVIM, or UpdateVIM with a non-empty id, would refuse because others have the name or share the VIM.
	PlanVIM(ctx context.Context, id string, spec VIMSpec, place VIMPlace) error
	// ExpectVIM notes, for the plans of this run, whether an update to come may give a VIM another user or another endpoint.
	ExpectVIM(id string, changes bool)
	// ForeignInstances names the instances on a VIM that no resource of the share's configuration has, as far as reads have shown.
	// There are none while others share the VIM, which stays when the share is given up.
	ForeignInstances(ctx context.Context, id, share string) ([]string, error)
}

// PackageManager onboards VNF packages.
type PackageManager interface {
	// ReadPackage reads and verifies a package and stores nothing; instances of
	// the same process can be previewed from it.
	ReadPackage(ctx context.Context, spec PackageSpec) (*Package, Problems, error)
	// OnboardPackage reads, verifies and stores a package. A non-empty wantID
	// refuses a content that is not the planned one.
	OnboardPackage(ctx context.Context, spec PackageSpec, wantID string) (*Package, Problems, error)
	Package(ctx context.Context, id string) (*Package, error)
	// PackageByName returns the version that was onboarded last.
	PackageByName(ctx context.Context, name string) (*Package, error)
	// Packages lists records in the order of their creation, superseded versions included. They
	// have no Content, and their VDUs none of the parts that are sealed.
	Packages(ctx context.Context, filter PackageFilter) ([]Package, error)
	// KnownPackage is what the package is onboarded with again when the store has lost it. It is
	// ErrNotFound without a record, and for a source that can hold a secret.
	KnownPackage(ctx context.Context, id string) (KnownPackage, error)
	// HoldPackage is Package for a resource of Terraform that has a share (see PackageSpec), which is noted.
	HoldPackage(ctx context.Context, id, share string) (*Package, error)
	// ReleasePackage gives a share up. The package is removed as soon as nobody has a share of it and
	// nothing uses it. Not found is success.
	ReleasePackage(ctx context.Context, id, share string) error
}

// InstanceManager runs the LCM operations of instances.
type InstanceManager interface {
	// PreviewInstance computes what an instance will consist of. It needs the
	// package, not the VIM. A package that is unknown here gives ErrNotFound. The preview is
	// nil when it depends on parameters that are known only later. The digests of what holds
	// secrets are empty for a new instance, of which id is empty, and for one whose key
	// neither its record nor the VIM tells.
	PreviewInstance(ctx context.Context, id string, spec InstanceSpec) (*Preview, Problems, error)
	// PlanUpdate says in words what an Update with this specification will do, as far as record and package tell; the VIM is not asked.
	// changed are the objects that differ from Terraform's state, with what the state has of them; what it says of the instance is in
	// spec.Known. For a new instance, whose id is empty, it says what Instantiate will do. It is nil where PreviewInstance has no preview.
	PlanUpdate(ctx context.Context, id string, spec InstanceSpec, changed map[string]string) (*PlannedUpdate, error)
	// RenderInstance is PreviewInstance of a new instance with the objects themselves.
	RenderInstance(ctx context.Context, spec InstanceSpec) (*Rendering, Problems, error)
	// RecoverInstance writes the record of an instance that the store has lost, from what Terraform's state says of it
	// (Known of the specification) and what the VIM shows. That is not an operation, and the VIM is not changed. What the state says is
	// unfinished is resumed by the next Update.
	RecoverInstance(ctx context.Context, id string, spec InstanceSpec) (*Instance, error)
	// RememberParams gives a record that RecoverInstance has written the parameters of management drivers that spec has, among them
	// write-only ones, which no state has: a termination receives the state alone. Other records stay as they are.
	RememberParams(ctx context.Context, id string, spec InstanceSpec) error
	// AdoptInstance writes the record of an instance that the store does not know, from what its VIM tells. That is not an operation,
	// and the VIM is not changed. Nothing at the place gives ErrNotFound.
	AdoptInstance(ctx context.Context, p InstancePlace) (*Instance, error)
	// UnrecordedInstances are the instances on a VIM that the store does not know and that can be imported, with the arguments that the VIM
	// has of them; in one namespace, or in all that may be listed if it is empty. Nothing is written.
	UnrecordedInstances(ctx context.Context, vimID, namespace string) ([]Instance, error)
	// DryRunInstance asks the VIM what it would refuse of the objects with these
	// keys, or keep of those that leave, if the instance were led to spec; id is empty for a new instance. A VIM
	// or package that is unknown here gives ErrNotFound. It is for plans: where the
	// same manager has begun to apply, nothing is asked.
	DryRunInstance(ctx context.Context, id string, spec InstanceSpec, keys []string) (Problems, error)
	// Instantiate creates and instantiates. When something exists and the
	// operation did not complete the error is an *OperationError with Instance set.
	Instantiate(ctx context.Context, spec InstanceSpec) (*Instance, error)
	// Update changes an existing instance to spec: it resumes what was interrupted, modifies,
	// changes the package, operates, scales and repairs drift. A record that the store has lost
	// is rebuilt from id and spec.
	Update(ctx context.Context, id string, spec InstanceSpec) (*Instance, error)
	// CheckAct finds offline what Act would refuse.
	CheckAct(ctx context.Context, id string, act Act) error
	// Act runs one operation on an instance as its record says that it is to be, and nothing besides: what was changed on the VIM is
	// repaired by the next Update. An instance with an operation that has not completed is an error.
	Act(ctx context.Context, id string, act Act) (*Instance, error)
	// Acknowledge notes that Terraform has the instances in its state that this process has created, whose names are then taken. Until
	// then, and if the process dies, the next Instantiate of the same name continues the creation.
	Acknowledge(ctx context.Context)
	// Instance reads the record and acknowledges it; it does not dial.
	Instance(ctx context.Context, id string) (*Instance, error)
	// Existing is the instance that has the name, namespace and VIM of spec already. It does not dial; ErrNotFound if there is none.
	Existing(ctx context.Context, spec InstanceSpec) (*Instance, error)
	// Instances lists records in the order of their creation and acknowledges none.
	Instances(ctx context.Context, filter InstanceFilter) ([]Instance, error)
	// Observe compares the VIM with what was applied.
	Observe(ctx context.Context, id string) (*Observation, error)
	Resources(ctx context.Context, id string) (*ResourceInfo, error)
	Terminate(ctx context.Context, id string, spec TerminateSpec) error
	// Operations lists the LCM operation occurrences of an instance, oldest first.
	Operations(ctx context.Context, instanceID string) ([]Operation, error)
}

// ChartManager finds Helm charts.
type ChartManager interface {
	// ResolveChart resolves a source to an exact version of a chart and stores its archive:
	// instances that use it do not need the source any more.
	ResolveChart(ctx context.Context, source ChartSource) (*Chart, error)
}

// ClusterManager reads workload clusters.
type ClusterManager interface {
	// WorkloadCluster reads the state of a workload cluster and its machines from the management
	// cluster, also of one that the manager did not create. A missing one gives ErrNotFound.
	WorkloadCluster(ctx context.Context, ref ClusterRef) (*ClusterState, []VNFC, error)
	// WorkloadClusters lists the workload clusters on a management cluster in the order of their names, also those that the manager did
	// not create; in one namespace, or in all if it is empty.
	WorkloadClusters(ctx context.Context, vimID, namespace string) ([]ClusterRef, error)
	// WorkloadKubeconfig reads the kubeconfig of a workload cluster from the
	// management cluster. Nothing of it is kept.
	WorkloadKubeconfig(ctx context.Context, ref ClusterRef, spec KubeconfigSpec) (*Kubeconfig, error)
}

// RegistryManager installs private registries.
type RegistryManager interface {
	// CheckRegistry finds what is wrong with the specification of a private registry, offline.
	CheckRegistry(ctx context.Context, spec RegistrySpec) (Problems, error)
	// InstallRegistry installs a private registry, or leads the one of that id to spec. The
	// record of one that the store has lost is written again under its id. An error that comes with a registry is of an
	// installation that has begun: its record says what may be on the host.
	InstallRegistry(ctx context.Context, id string, spec RegistrySpec) (*Registry, error)
	// RecoverRegistry writes the record of a registry that the store has lost, from what Terraform's state says of it and the mark
	// on its host, which it does not change. A host without the registry gives ErrNoRegistry. Ending is set where only a removal
	// follows, which needs no package, and a host that cannot be reached is then no error where the registry is to be forgotten.
	RecoverRegistry(ctx context.Context, id string, spec RegistrySpec, ending *RegistryRemoval) (*Registry, error)
	// Registry reads a record; it does not dial.
	Registry(ctx context.Context, id string) (*Registry, error)
	// Registries lists records in the order of their creation, without their secrets. It does
	// not dial.
	Registries(ctx context.Context, filter RegistryFilter) ([]Registry, error)
	// ReadRegistry reads the registry on its host. With an error it returns the record.
	ReadRegistry(ctx context.Context, id string) (*Registry, error)
	// RemoveRegistry removes a registry from its host, or forgets it where that is asked for and the host is gone. Not found is success.
	RemoveRegistry(ctx context.Context, id string, how RegistryRemoval) error
}
