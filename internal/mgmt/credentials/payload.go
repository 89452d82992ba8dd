package credentials

import (
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// schemaVersion is the version of the payload. It rises when a field changes its meaning or is removed, not when one is added.
const schemaVersion = 1

// payload is the body of a delivery. The documentation of credentials_sink describes it.
type payload struct {
	SchemaVersion int    `json:"schema_version"`
	ClusterName   string `json:"cluster_name"`
	Namespace     string `json:"namespace"`
	// Endpoint is the URL of the workload API, CACertificate its CA as PEM.
	Endpoint      string `json:"endpoint"`
	CACertificate string `json:"ca_certificate"`
	Kubeconfig    string `json:"kubeconfig"`
	// NotAfter is null where the kubeconfig has no client certificate.
	NotAfter *time.Time `json:"not_after"`
}

func newPayload(ref vnfm.ClusterRef, k *vnfm.Kubeconfig) payload {
	p := payload{
		SchemaVersion: schemaVersion, ClusterName: ref.Name, Namespace: ref.Namespace,
		Endpoint: k.Host, CACertificate: k.CACertificate, Kubeconfig: k.Raw.Reveal(),
	}
	if !k.NotAfter.IsZero() {
		at := k.NotAfter.UTC()
		p.NotAfter = &at
	}
	return p
}
