package vnfm

import (
	"context"
	"io/fs"
	"slices"
	"time"
)

// PackageSpec is what a user says of a VNF package.
type PackageSpec struct {
	// Name is the identity of the package over all its versions; a package that is
	// only looked at needs none.
	Name string `json:"name"`
	// Source is a directory, a .zip or .csar file, an http(s) URL, or an artifact in a registry (oci://).
	Source string `json:"source"`
	// Access is for a URL or registry. A record keeps it sealed, for files that are read at the source later.
	Access *ChartAccess `json:"-"`
	// Checksum is the expected digest of the file behind an http(s) URL or of a
	// zip file ("sha256:<hex>"); empty expects nothing.
	Checksum string `json:"checksum,omitempty"`
	// Integrity is "enforce", "warn" or "ignore"; Signature is "require",
	// "verify_if_present" or "ignore".
	Integrity string       `json:"integrity,omitempty"`
	Signature string       `json:"signature,omitempty"`
	Trust     PackageTrust `json:"trust"`
	// ExternalArtifacts fetches the files that the package names by URL with a digest.
	ExternalArtifacts bool `json:"external_artifacts,omitempty"`
	// Share names the resource that onboards the package; several resources, of several configurations too, can
	// have shares of one package. Empty for none.
	Share string `json:"-"`
}

// KnownPackage is what Terraform's state keeps of the package of an instance.
type KnownPackage struct {
	// ID tells whether what the specification leads to is the same content.
	ID string `json:"id"`
	PackageSpec
}

// PackageTrust says whose signatures of packages count.
type PackageTrust struct {
	// Roots are the certificates that a signer's chain must end at, PEM; empty trusts nobody.
	Roots string `json:"roots,omitempty"`
	// Subjects (RFC 2253), PublicKeys ("sha256:<hex>" of the SubjectPublicKeyInfo) and ExtendedKeyUsages (names or
	// object identifiers) pin the signer's certificate: of each list that is not empty it must have one.
	Subjects          []string `json:"subjects,omitempty"`
	PublicKeys        []string `json:"public_keys,omitempty"`
	ExtendedKeyUsages []string `json:"extended_key_usages,omitempty"`
	// CRLs are revocation lists, PEM.
	CRLs string `json:"crls,omitempty"`
}

// Equal reports whether the same signatures count.
func (t PackageTrust) Equal(other PackageTrust) bool {
	return t.Roots == other.Roots && t.CRLs == other.CRLs && slices.Equal(t.Subjects, other.Subjects) &&
		slices.Equal(t.PublicKeys, other.PublicKeys) && slices.Equal(t.ExtendedKeyUsages, other.ExtendedKeyUsages)
}

// Package is an onboarded VNF package (SOL004) with its descriptor (SOL001).
type Package struct {
	// ID is "<name>@<digest>": it moves with the content.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Digest is "sha256:<hex>" over all paths and contents, the same for a
	// directory and for a zip of it.
	Digest     string      `json:"digest"`
	Descriptor *Descriptor `json:"descriptor"`
	// Artifacts are the listed artifacts, Files everything that the package holds.
	Artifacts []PackageArtifact `json:"artifacts"`
	Files     []PackageFile     `json:"files"`
	// KubernetesFiles are the artifacts that hold Kubernetes manifests, in order.
	KubernetesFiles []string `json:"kubernetes_files,omitempty"`
	// SecurityOption is "", OPTION_1 or OPTION_2 (SOL004 5.1); Signer is the
	// subject of the verified signing certificate.
	SecurityOption string    `json:"security_option,omitempty"`
	Signer         string    `json:"signer,omitempty"`
	OnboardedAt    time.Time `json:"onboarded_at"`
	// Superseded is set when no resource has the package any more while something still uses it: it goes with the last
	// user.
	Superseded bool `json:"superseded,omitempty"`
	// Content reads the files of the package. It is never stored in a record.
	Content fs.FS `json:"-"`
	// Later are the objects, by the names that ObjectName gives, whose content depends on results of random functions that are not
	// made yet. With NamesLater it is not even known which objects there are. Only packages of workload clusters have them.
	Later      []string `json:"-"`
	NamesLater bool     `json:"-"`
}

// Complete reports whether the content depends on no results of random functions that are not made yet.
func (p *Package) Complete() bool { return len(p.Later) == 0 && !p.NamesLater }

// ObjectName is how Later has an object.
func ObjectName(apiVersion, kind, name string) string { return apiVersion + " " + kind + " " + name }

// ContentIn returns the files of the package for reads that end with ctx: a large file may have to be downloaded.
func (p *Package) ContentIn(ctx context.Context) fs.FS {
	if content, ok := p.Content.(contextFS); ok {
		return content.In(ctx)
	}
	return p.Content
}

// contextFS are files that can be read with a context.
type contextFS interface {
	In(ctx context.Context) fs.FS
}

// HasContainers reports whether a deployment flavour of the package has manifests, charts or
// VDUs of containers.
func (p *Package) HasContainers(f *Flavour) bool {
	return len(p.KubernetesFiles) > 0 || len(f.MCIOPs) > 0 || slices.ContainsFunc(f.VDUs, func(v VDU) bool { return v.Workload != nil })
}

// PackageArtifact is one artifact that the manifest or TOSCA.meta lists.
type PackageArtifact struct {
	Path        string `json:"path"`
	Digest      string `json:"digest,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Size        int64  `json:"size"`
	External    bool   `json:"external,omitempty"`
}

// PackageFile is one file of the package and the digest of its content.
type PackageFile struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}
