package vnfm

import "io/fs"

// ChartSource says where a Helm chart comes from: embedded, a path, a repository or a
// registry. One of them is set.
type ChartSource struct {
	// Name is that of an embedded chart or, beside Repository, of a chart there.
	Name string `json:"name,omitempty"`
	// Path is a directory or an archive on this machine.
	Path string `json:"path,omitempty"`
	// Repository is the URL of a Helm repository, which has an index.yaml.
	Repository string `json:"repository,omitempty"`
	// OCI is "oci://<registry>/<path>" of a chart in an OCI registry.
	OCI string `json:"oci,omitempty"`
	// Version is the wanted version, or a range of versions; empty is the newest that is
	// no pre-release.
	Version string `json:"version,omitempty"`
	// Digest, when set, is what the chart must have: that of the archive or, of a chart
	// in a registry, that of its manifest.
	Digest string `json:"digest,omitempty"`
	// Chart is what the source was found to be. It stays until the source is another one,
	// so that a range of versions means the same chart each time.
	Chart *Chart `json:"chart,omitempty"`
	// Access is for repositories and registries. It is never kept.
	Access *ChartAccess `json:"-"`
}

// Fetched reports whether the chart comes over the network.
func (s *ChartSource) Fetched() bool { return s.Repository != "" || s.OCI != "" }

// String is the source as people write it.
func (s *ChartSource) String() string {
	switch {
	case s.Repository != "":
		return s.Name + " of " + s.Repository
	case s.OCI != "":
		return s.OCI
	case s.Path != "":
		return s.Path
	default:
		return s.Name
	}
}

// Chart is one version of a chart, whose archive is kept by its digest.
type Chart struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	// AppVersion is the version of what the chart installs, as far as it says.
	AppVersion string `json:"app_version,omitempty"`
	// Digest is that of the archive.
	Digest string `json:"digest"`
}

// ChartAccess is how one gets into a repository or registry, or into the server of a package.
type ChartAccess struct {
	Username string
	Password Secret
	// Token is a bearer token, which goes instead of a password; Headers go with each request to a server of packages.
	Token   Secret
	Headers map[string]Secret
	// CACertificate is a PEM bundle; empty means the system's roots.
	CACertificate string
	// InsecureSkipTLSVerify leaves the certificate of the server unverified, PlainHTTP has
	// a registry used, and a password sent, without TLS.
	InsecureSkipTLSVerify bool
	PlainHTTP             bool
}

// ClusterChart is the form of a workload cluster that a Helm chart describes, with the
// names of values that the chart "openstack-cluster" of capi-helm-charts has. Embedded
// are "openstack" and "in-memory".
type ClusterChart struct {
	ChartSource
	Values map[string]any `json:"values,omitempty"`
	// Archive holds the archive of a chart that is neither embedded nor read from a path,
	// under the name of File. It is never stored in a record.
	Archive fs.FS  `json:"-"`
	File    string `json:"-"`
}
