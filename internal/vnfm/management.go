package vnfm

import (
	"context"
	"time"
)

// CredentialsSender is the name of the management driver that hands the kubeconfig of
// a workload cluster to a web server, as a VNFD names it.
const CredentialsSender = "mgmt-drivers-credentials-sender" //nolint:gosec // a name

// ManagementDriver does at hooks around an operation what no infra driver does. It is
// chosen by the name that a VNFD gives in its interface Vnflcm.
type ManagementDriver interface {
	// Check finds, without asking anybody, what a request lacks for the driver, and what
	// the instance that it leads to lacks, unless that is nil.
	Check(request *InstanceSpec, planned *Preview) Problems
	// Run works at one hook. It can be called again after it was interrupted at any
	// instant and reaches the same end; an error is that of the operation.
	Run(ctx context.Context, call *HookCall) error
}

// HookCall is what a management driver has in hand at a hook.
type HookCall struct {
	// Operation is the operation that the hook is of; End is false before it and true
	// after it.
	Operation OperationType
	End       bool
	// Instance is the record, with the inventory. What the driver changes in it is
	// written down with the end of the operation.
	Instance *Instance
	// Request is what the user asked for, with what no record holds; that of a
	// termination is what the record says.
	Request *InstanceSpec
	// Kubeconfig reads that of a workload cluster.
	Kubeconfig func(ctx context.Context, ref ClusterRef) (*Kubeconfig, error)
	// DigestKey keys the digests of secrets.
	DigestKey []byte
	Recorder  Recorder
}

// CredentialsSink is a web server of the user's that is sent kubeconfigs of workload
// clusters. No record holds it: whoever asks for an operation brings it.
type CredentialsSink struct {
	URL string
	// CACertificate is a PEM bundle; empty means the system's roots.
	CACertificate string
	Headers       map[string]Secret
	// Timeout bounds one try, and Attempts is how many there are.
	Timeout  time.Duration
	Attempts int
}

// Delivery is what a credentials sink was sent last of one workload cluster.
type Delivery struct {
	URL string `json:"url"`
	// Digest is keyed, and of the URL and the kubeconfig.
	Digest string    `json:"digest"`
	SentAt time.Time `json:"sent_at"`
}
