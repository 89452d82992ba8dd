package csar

import (
	"context"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// Integrity tells what a wrong digest or a missing file means.
type Integrity string

// The ways to treat damage. The zero value stands for IntegrityEnforce. With the other two, a package may also lack
// both TOSCA-Metadata and a manifest.
const (
	// IntegrityEnforce makes errors of wrong digests and missing files.
	IntegrityEnforce Integrity = "enforce"
	// IntegrityWarn makes warnings of them.
	IntegrityWarn Integrity = "warn"
	// IntegrityIgnore does not look at digests, and says nothing of missing files. No signer is reported then.
	IntegrityIgnore Integrity = "ignore"
)

// SignaturePolicy tells what is expected of a package's signature.
type SignaturePolicy string

// The policies. The zero value stands for SignatureVerifyIfPresent.
const (
	// SignatureRequire refuses a package unless a trusted signer has signed its manifest, with the digests of all
	// files in it, or its archive.
	SignatureRequire SignaturePolicy = "require"
	// SignatureVerifyIfPresent refuses a signature that does not hold; no signature is
	// fine, and without trust roots the signer is not judged.
	SignatureVerifyIfPresent SignaturePolicy = "verify_if_present"
	// SignatureIgnore does not look at signatures.
	SignatureIgnore SignaturePolicy = "ignore"
)

// Options are the demands on a package.
type Options struct {
	Integrity Integrity
	Signature SignaturePolicy
	// Trust says whose signatures count.
	Trust Trust
	// Now gives the time at which certificates must be valid; nil is time.Now.
	Now func() time.Time
	// Budget is what reading the package may cost; nil is a new one with the default limits.
	Budget *budget.Budget
}

// withBudget returns the options with a budget.
func (o Options) withBudget() Options {
	if o.Budget == nil {
		o.Budget = budget.New(context.Background(), budget.Limits{})
	}
	return o
}

func (o Options) integrity() Integrity {
	if o.Integrity == "" {
		return IntegrityEnforce
	}
	return o.Integrity
}

func (o Options) signature() SignaturePolicy {
	if o.Signature == "" {
		return SignatureVerifyIfPresent
	}
	return o.Signature
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Package is what SOL 004 says about a package: everything but its VNFD.
type Package struct {
	// Digest is the ContentDigest of the archive.
	Digest string
	// Entry is the path of the file where the VNFD begins, OtherDefinitions those that TOSCA.meta names
	// beside it.
	Entry            string
	OtherDefinitions []string
	// ManifestFile and Manifest are empty and nil for a package without manifest.
	ManifestFile string
	Manifest     *Manifest
	// Meta is the first block of TOSCA.meta by canonical key, empty for a package without
	// TOSCA-Metadata.
	Meta map[string]string
	// Artifacts are the files that the manifest and TOSCA.meta list, in their order,
	// without those that are missing and without the non-MANO artifacts.
	Artifacts []Artifact
	// NonMANO are the paths of the non-MANO artifacts by set identifier.
	NonMANO  map[string][]string
	Security Security
	// ChangeLog and Certificate are paths of files, Tests and Licenses of directories (or
	// files); empty when the package has none.
	ChangeLog, Tests, Licenses, Certificate string
}

// Artifact is one listed file.
type Artifact struct {
	Path string
	// Algorithm and Hash are those declared, empty when there are none.
	Algorithm, Hash string
	// Digest is "sha256:<hex>" as computed; empty for an external artifact.
	Digest      string
	ContentType string
	// External is true for an http(s) URL. It is listed, never fetched.
	External bool
	// Size is in bytes.
	Size int64
}

// Security options of SOL 004 clause 5.1, as SOL003 writes them in packageSecurityOption.
const (
	SecurityOption1 = "OPTION_1"
	SecurityOption2 = "OPTION_2"
)

// Security says how a package is signed.
type Security struct {
	// Option is SecurityOption1 (signed manifest, or signed files), SecurityOption2 (signed
	// archive) or empty.
	Option string
	// Signer, Issuer and SerialNumber (hexadecimal) are those of the signer's certificate,
	// NotAfter is its end; empty unless Verified.
	Signer, Issuer, SerialNumber string
	NotAfter                     time.Time
	// Verified is true when a signature over all that a reader of the package can get at holds and its signer is trusted.
	Verified bool
}
