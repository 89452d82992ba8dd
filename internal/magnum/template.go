package magnum

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/document"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Template is a cluster template.
type Template struct {
	Image Image `json:"image"`
	// KubernetesVersion is that of the image; empty leaves it to the image.
	KubernetesVersion string            `json:"kubernetes_version,omitempty"`
	Chart             vnfm.ClusterChart `json:"chart"`
	// ChartServer is how to reach the server of a chart that is fetched.
	ChartServer *ChartServer `json:"chart_server,omitempty"`
	// The flavors are for machines of which the cluster says none.
	ControlPlaneFlavor string `json:"control_plane_flavor,omitempty"`
	NodeFlavor         string `json:"node_flavor,omitempty"`
	Keypair            string `json:"keypair,omitempty"`
	// Networks and subnet are ids or names.
	ExternalNetwork string   `json:"external_network,omitempty"`
	FixedNetwork    string   `json:"fixed_network,omitempty"`
	FixedSubnet     string   `json:"fixed_subnet,omitempty"`
	DNSNameservers  []string `json:"dns_nameservers,omitempty"`
	NetworkDriver   string   `json:"network_driver,omitempty"`
	// VolumeTypes are Cinder's, of which storage classes are made; the first is the default.
	VolumeTypes []string          `json:"volume_types,omitempty"`
	Keystone    *Keystone         `json:"keystone,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

// Image is the image of the machines, by its id or name, and its properties.
type Image struct {
	ID          string `json:"id,omitempty"`
	Name        string `json:"name,omitempty"`
	KubeVersion string `json:"kube_version"`
	OSDistro    string `json:"os_distro"`
}

// Keystone is what authentication against Keystone asks.
type Keystone struct {
	AuthURL   string `json:"auth_url"`
	ProjectID string `json:"project_id"`
}

// ChartServer says how to reach a repository or registry. Its users are arguments of each
// cluster: a template holds no secrets.
type ChartServer struct {
	CACertificate         string `json:"ca_certificate,omitempty"`
	InsecureSkipTLSVerify bool   `json:"insecure_skip_tls_verify,omitempty"`
	PlainHTTP             bool   `json:"plain_http,omitempty"`
}

// Access is how somebody gets to the chart.
func (s *ChartServer) Access(username string, password vnfm.Secret) *vnfm.ChartAccess {
	access := &vnfm.ChartAccess{Username: username, Password: password}
	if s != nil {
		access.CACertificate, access.InsecureSkipTLSVerify, access.PlainHTTP = s.CACertificate, s.InsecureSkipTLSVerify, s.PlainHTTP
	}
	return access
}

// Version is the version of Kubernetes, without v.
func (t *Template) Version() string {
	if t.KubernetesVersion != "" {
		return withoutV(t.KubernetesVersion)
	}
	return withoutV(t.Image.KubeVersion)
}

func withoutV(version string) string { return strings.TrimPrefix(version, "v") }

// Definition writes a template as one text, which is the same for the same template.
func (t *Template) Definition() (string, error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("writing the cluster template: %w", err)
	}
	return string(text), nil
}

// Parse reads a definition. It refuses fields that it does not know: a definition of
// another version of the provider means something that would be lost.
func Parse(definition string) (*Template, error) {
	decoder := json.NewDecoder(strings.NewReader(definition))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	t := &Template{}
	if err := decoder.Decode(t); err != nil {
		return nil, err
	}
	t.Chart.Values, _ = document.Numbers(t.Chart.Values).(map[string]any)
	return t, nil
}

// ID names a definition by its content.
func ID(name, definition string) string {
	return vnfm.PackageID(name, digest.Of([]byte(definition)))
}
