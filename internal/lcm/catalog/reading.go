package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lcm/records"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfd"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// packageRecord is a package as stored: its contents are kept by digest.
type packageRecord struct {
	vnfm.Package
	// Removing is set while the contents are removed: the package cannot be used any more, and
	// an interrupted removal can be resumed.
	Removing bool `json:"removing,omitempty"`
	// Shares name the resources that have onboarded the package. It stays until the last of them and the last
	// instance are gone.
	Shares records.Shares `json:"shares,omitempty"`
	// Bundle is the digest of the content that holds the small files.
	Bundle string `json:"bundle,omitempty"`
	// Origin says what the package was read from and how it was verified, so
	// that the same source need not be read twice.
	Origin origin `json:"origin"`
	// access is how one gets into the source. It is sealed.
	access *vnfm.ChartAccess
}

// CheckRecord is called by package records when the record is read.
func (r *packageRecord) CheckRecord(id string) error {
	if r.Descriptor == nil {
		return errors.New("it has no descriptor")
	}
	return records.CheckID(r.ID, id)
}

// contents are the digests of all contents that the package may have in the store: its bundle and the files that are not in it.
func (r *packageRecord) contents() []string {
	var out []string
	files := r.Files
	if r.Bundle != "" {
		out = append(out, r.Bundle)
		_, files = partFiles(r.Files)
	}
	for _, f := range files {
		out = append(out, f.Digest)
	}
	return out
}

// origin identifies one reading of a source.
type origin struct {
	// Source is the digest of the source: a URL can hold a token.
	Source string `json:"source"`
	// Location is the source itself, empty where it may hold a token.
	Location  string            `json:"location,omitempty"`
	Checksum  string            `json:"checksum,omitempty"`
	ETag      string            `json:"etag,omitempty"`
	Integrity string            `json:"integrity"`
	Signature string            `json:"signature"`
	Trust     vnfm.PackageTrust `json:"trust"`
	// External says that external artifacts are part of the content.
	External bool `json:"external,omitempty"`
}

// originOf is the origin of a source that is to be read.
func originOf(spec vnfm.PackageSpec) origin {
	sum := sha256.Sum256([]byte(spec.Source))
	return origin{Source: hex.EncodeToString(sum[:]), Integrity: spec.Integrity, Signature: spec.Signature, Trust: spec.Trust, External: spec.ExternalArtifacts}
}

// verifiedAs reports whether a package of origin o is of the wanted source, and has passed the wanted checks.
func (o origin) verifiedAs(want origin) bool {
	return o.Source == want.Source && o.Integrity == want.Integrity && o.Signature == want.Signature && o.Trust.Equal(want.Trust) && o.External == want.External
}

// mostProblems is how many problems of one package are listed.
const mostProblems = 100

// reading is a package that was read from its source.
type reading struct {
	pkg      *vnfm.Package
	origin   origin
	problems vnfm.Problems
	// stored is set when the store holds this very content already.
	stored bool
	// close frees the archive and any download.
	close func()
}

// ReadPackage implements vnfm.Manager.
func (c *Catalog) ReadPackage(ctx context.Context, spec vnfm.PackageSpec) (*vnfm.Package, vnfm.Problems, error) {
	r, err := c.readSource(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	if r.problems.HasErrors() {
		r.close()
		return nil, r.problems, nil
	}
	// The archive stays open: instances of this process are previewed from it.
	c.remember(r.pkg)
	return r.pkg, r.problems, nil
}

func (c *Catalog) remember(p *vnfm.Package) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	c.read[p.ID] = p
}

func (c *Catalog) remembered(id string) *vnfm.Package {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	return c.read[id]
}

// PackageOf finds a package in this process or in the store.
func (c *Catalog) PackageOf(ctx context.Context, id string) (*vnfm.Package, error) {
	if p := c.remembered(id); p != nil {
		return p, nil
	}
	return c.Package(ctx, id)
}

// readSource reads a package from its source, or finds that the store has it.
func (c *Catalog) readSource(ctx context.Context, spec vnfm.PackageSpec) (*reading, error) {
	o := originOf(spec)
	known, err := c.knownDownload(ctx, spec, o)
	if err != nil {
		return nil, err
	}
	etag := ""
	if known != nil {
		if spec.Checksum != "" && spec.Checksum == known.Value.Origin.Checksum {
			return c.storedReading(ctx, known)
		}
		etag = known.Value.Origin.ETag
	}
	f, err := openSource(ctx, spec.Source, spec.Checksum, etag, spec.Access)
	if err != nil {
		return nil, err
	}
	if f.unchanged {
		return c.storedReading(ctx, known)
	}
	if o.Checksum, o.ETag = f.checksum, f.etag; f.shown == spec.Source {
		o.Location = spec.Source
	}
	b := budget.New(ctx, budget.Limits{})
	archive, parsed, problems, err := csar.OpenFile(f.file, csar.Options{ //nolint:contextcheck // the budget brings the context
		Integrity: csar.Integrity(spec.Integrity),
		Signature: csar.SignaturePolicy(spec.Signature),
		Trust: csar.Trust{
			Roots: []byte(spec.Trust.Roots), Subjects: spec.Trust.Subjects, PublicKeys: spec.Trust.PublicKeys,
			ExtendedKeyUsages: spec.Trust.ExtendedKeyUsages, CRLs: []byte(spec.Trust.CRLs),
		},
		Budget: b,
	}, csar.DefaultLimits())
	if err != nil {
		f.remove()
		return nil, fmt.Errorf("opening the package %s: %w", f.shown, err)
	}
	r := &reading{problems: problems.Capped(mostProblems), origin: o, close: f.remove}
	if archive != nil {
		r.close = func() {
			// Reading is over: there is nothing that a failed close could lose.
			_ = archive.Close()
			f.remove()
		}
	}
	if problems.HasErrors() || parsed == nil {
		return r, nil
	}
	if spec.ExternalArtifacts {
		all, more, err := c.withExternal(ctx, spec, parsed, archive)
		if err != nil {
			r.close()
			return nil, err
		}
		archive = all
		r.problems = append(r.problems, more...)
	}
	descriptor, more := vnfd.Read(b, archive, parsed.Entry)
	r.problems = append(r.problems, more...).Capped(mostProblems)
	if r.problems.HasErrors() {
		return r, nil
	}
	r.problems = append(r.problems, parsed.Contradictions(descriptor)...).Capped(mostProblems)
	kubernetesFiles, more := parsed.KubernetesFiles(b, archive)
	if r.problems = append(r.problems, more...).Capped(mostProblems); r.problems.HasErrors() {
		return r, nil
	}
	r.pkg = newPackage(spec.Name, archive, parsed, descriptor)
	r.pkg.KubernetesFiles = kubernetesFiles
	return r, nil
}

func newPackage(name string, archive csar.Archive, parsed *csar.Package, descriptor *vnfm.Descriptor) *vnfm.Package {
	p := &vnfm.Package{
		ID:             vnfm.PackageID(name, parsed.Digest),
		Name:           name,
		Digest:         parsed.Digest,
		Descriptor:     descriptor,
		SecurityOption: parsed.Security.Option,
		Signer:         parsed.Security.Signer,
		Content:        archive,
	}
	for _, f := range archive.Files() {
		p.Files = append(p.Files, vnfm.PackageFile{Path: f.Path, Digest: f.Digest, Size: f.Size})
	}
	for _, a := range parsed.Artifacts {
		p.Artifacts = append(p.Artifacts, vnfm.PackageArtifact{
			Path: a.Path, Digest: a.Digest, ContentType: a.ContentType, Size: a.Size, External: a.External,
		})
	}
	return p
}

// knownDownload finds the stored package that came from the same URL under the
// same policy. Paths are always read again: that is cheap and detects every change.
func (c *Catalog) knownDownload(ctx context.Context, spec vnfm.PackageSpec, want origin) (*records.Entry[packageRecord], error) {
	if !isRemote(spec.Source) {
		return nil, nil
	}
	s, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	all, err := records.List[packageRecord](ctx, s, store.Query{Kind: store.KindPackage, Owner: spec.Name})
	if err != nil {
		return nil, err
	}
	for i := len(all) - 1; i >= 0; i-- {
		if !all[i].Value.Removing && all[i].Value.Origin.verifiedAs(want) {
			if c.checkBundle(ctx, s, all[i]) != nil {
				return nil, nil //nolint:nilerr // It is read from its source again.
			}
			return all[i], nil
		}
	}
	return nil, nil
}

func (c *Catalog) storedReading(ctx context.Context, en *records.Entry[packageRecord]) (*reading, error) {
	p, err := c.withContent(ctx, en)
	if err != nil {
		return nil, err
	}
	return &reading{pkg: p, origin: en.Value.Origin, stored: true, close: func() {}}, nil
}
