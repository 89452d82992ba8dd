package vnfm

import (
	"context"
	"encoding/json"
	"time"
)

// The names of management drivers that are built in, as a VNFD names them in its
// interface Vnflcm.
const (
	// CredentialsSender hands the kubeconfig of a workload cluster to a web server.
	CredentialsSender = "mgmt-drivers-credentials-sender" //nolint:gosec // a name
	// Kubespray makes a Kubernetes cluster of servers.
	Kubespray = "mgmt-drivers-kubespray"
	// KubernetesScript makes one with a script of the package.
	KubernetesScript = "mgmt-drivers-kubernetes"
	// PrivateRegistry installs a container registry on a server.
	PrivateRegistry = "mgmt-drivers-private-registry"
)

// The types of artifact (TOSCA Simple Profile 5.4.4) whose file a management driver
// runs, whatever its name is.
const (
	ArtifactBash    = "tosca.artifacts.Implementation.Bash"
	ArtifactAnsible = "tosca.artifacts.Implementation.Ansible"
)

// UnknownDrivers says what becomes of hooks of a VNFD whose management driver is not known, such as a Python class of the package.
type UnknownDrivers string

const (
	// UnknownDriversError rejects the request.
	UnknownDriversError UnknownDrivers = "error"
	// UnknownDriversSkip goes on without these hooks, with a warning.
	UnknownDriversSkip UnknownDrivers = "skip"
)

// ManagementDriver does at hooks around an operation what no infra driver does. It is
// chosen by the name, or the type, of the artifact that a VNFD gives in its interface
// Vnflcm.
type ManagementDriver interface {
	// Params names the additional parameters that are the driver's. Infra drivers never
	// see them, and the store keeps them sealed.
	Params() []string
	// Check finds, without asking anybody, what a request lacks for the driver, and what
	// the instance that it leads to lacks.
	Check(c *HookCheck) Problems
	// Run works at one hook. It can be called again after it was interrupted at any
	// instant and reaches the same end; an error is that of the operation.
	Run(ctx context.Context, call *HookCall) error
}

// Registrar is a management driver that registers the cluster that it makes as a VIM.
type Registrar interface {
	ManagementDriver
	// RegistersVIM marks the driver; it does nothing.
	RegistersVIM()
}

// HostChecker is a management driver that works on hosts of the user's which are there before the servers of an instance.
type HostChecker interface {
	ManagementDriver
	// CheckHosts finds what these hosts lack for the driver, and changes nothing there. The error is that of a host that
	// could not be asked. What Check refuses is never handed to it.
	CheckHosts(ctx context.Context, c *HostCheck) (Problems, error)
}

// HostCheck is what a management driver checks the user's hosts by.
type HostCheck struct {
	// Params are the driver's own of the request, all of them known.
	Params  map[string]any
	Package *Package
	Flavour *Flavour
	// HostKeys are the keys of hosts that are known. Those of a plan keep nothing.
	HostKeys HostKeys
}

// NodeKeeper is a management driver that keeps servers of an instance as the nodes of a cluster. Named for the hooks of one operation
// that adds, removes or replaces VNFCs, it is called around every such operation on VNFCs of its VDUs.
type NodeKeeper interface {
	ManagementDriver
	// NodeVDUs are the VDUs whose VNFCs are the nodes, or serve them; none while that is not known.
	NodeVDUs(c *HookCheck) []string
}

// Watcher is a management driver that looks at a refresh whether what it has set up is as it should be by now.
type Watcher interface {
	ManagementDriver
	// Watch says of VDUs in which way what the driver has set up on their VNFCs differs from what it should be. The repair of these
	// VDUs, whose hooks call the driver, ends the difference. It changes nothing, and of the call only what can be read is there.
	Watch(ctx context.Context, call *HookCall) (map[string]string, error)
}

// Hook is the start or the end of an operation, with what the VNFD says is done there.
type Hook struct {
	// Name is the hook's, such as "instantiate_end".
	Name string
	// Implementation is empty where the VNFD names none and the driver runs because of
	// what the user asked for.
	Implementation Implementation
}

// HookCheck is what a management driver checks a request by.
type HookCheck struct {
	// Hooks are all at which the VNFD names the driver.
	Hooks []Hook
	// Params are the driver's own of the request, secrets among them. With Later set some
	// are known only when it is carried out.
	Params  map[string]any
	Later   bool
	Request *InstanceSpec
	Package *Package
	Flavour *Flavour
	// Counts is the number of VNFCs per VDU id.
	Counts map[string]int
	// Planned is what the instance will consist of; nil while that is not known.
	Planned *Preview
}

// HookCall is what a management driver has in hand at a hook.
type HookCall struct {
	Hook Hook
	// Operation is the operation that the hook is of; End is false before it and true
	// after it.
	Operation OperationType
	End       bool
	// Params are the driver's own parameters, as in a check.
	Params map[string]any
	// Instance is the record, with the inventory. Changes by the driver are
	// recorded at the end of the operation.
	Instance *Instance
	// Request is what the user asked for, with what no record holds; that of a
	// termination is what the record says.
	Request *InstanceSpec
	Package *Package
	Flavour *Flavour
	// Leaving are the VNFCs that the operation takes away, or replaces.
	Leaving []string
	// Forceful is set in a termination that goes on whatever the driver says.
	Forceful bool
	// Resources looks what the VIM has of the instance now.
	Resources func(ctx context.Context) (*ResourceInfo, error)
	// Kubeconfig reads that of a workload cluster.
	Kubeconfig func(ctx context.Context, ref ClusterRef) (*Kubeconfig, error)
	// VIMs registers a cluster that the driver has made.
	VIMs VIMRegistry
	// HostKeys keeps the keys of hosts with the instance.
	HostKeys HostKeys
	// State is what the driver keeps with the instance.
	State DriverState
	// DigestKey keys the digests of secrets.
	DigestKey []byte
	Recorder  Recorder
}

// Once does a step of a hook unless it was done already for the same operation. A
// step that was interrupted is done again.
func (c *HookCall) Once(ctx context.Context, step string, do func(ctx context.Context) error) error {
	key := c.Hook.Name + "/" + step
	if c.Recorder.Note(key) != "" {
		return nil
	}
	if err := do(ctx); err != nil {
		return err
	}
	return c.Recorder.SetNote(ctx, key, "done")
}

// RunParams are parameters of management drivers that come with one run and are in no record, by the id or the name of an
// instance. They are a secret as a whole.
type RunParams map[string]map[string]any

// Find returns those of an instance, by its id or else its name; nil when there are none.
func (p RunParams) Find(id, name string) map[string]any {
	if found, ok := p[id]; ok && id != "" {
		return found
	}
	return p[name]
}

// VIMRegistry registers VIMs, as Manager does.
type VIMRegistry interface {
	RegisterVIM(ctx context.Context, id string, spec VIMSpec) (*VIM, Problems, error)
	DeregisterVIM(ctx context.Context, id string) error
}

// HostKeys keeps the public keys of hosts that were met, by a name of the host.
type HostKeys interface {
	// Pinned is the key of a host in the form of an authorized_keys line; empty when the
	// host was not met before.
	Pinned(name string) string
	Pin(ctx context.Context, name, key string) error
}

// DriverState is what a management driver writes down of an instance for itself. It
// holds no secrets.
type DriverState interface {
	// Load reads it into a value, which stays as it is when nothing was written yet.
	Load(into any) error
	Save(ctx context.Context, value any) error
}

// DriverStates are what management drivers keep with an instance, by driver.
type DriverStates map[string]json.RawMessage

// CredentialsSink is a web server of the user's that is sent kubeconfigs of workload
// clusters. No record holds it: each request brings it.
type CredentialsSink struct {
	URL string
	// CACertificate is a PEM bundle; empty means the system's roots.
	CACertificate string
	Headers       map[string]Secret
	// Timeout bounds one try, and Attempts is how many there are.
	Timeout  time.Duration
	Attempts int
}

// The defaults of Timeout and Attempts, which are zero where a configuration has none.
const (
	DefaultSinkTimeout  = 30 * time.Second
	DefaultSinkAttempts = 5
)

// Delivery is what a credentials sink was sent last of one workload cluster.
type Delivery struct {
	URL string `json:"url"`
	// Digest is keyed, and of the URL and the kubeconfig.
	Digest string    `json:"digest"`
	SentAt time.Time `json:"sent_at"`
}
