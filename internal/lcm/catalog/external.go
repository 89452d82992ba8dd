package catalog

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/fetch"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tempfile"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A package may name files by URL. Where the user allows it they become part of its content, under their URLs, once their digests are
// verified: those that manifest or TOSCA.meta declare, which a required signature covers. One without a digest is not fetched.

// isExternal tells whether the path of a file is the URL that it was fetched from.
func isExternal(file string) bool { return strings.Contains(file, "://") }

// externals are the files of a package that were fetched.
type externals struct {
	files []csar.FileInfo
	// temporary has the downloads, stored what the store has of them, by URL.
	temporary map[string]*os.File
	stored    map[string]fs.FS
	remove    []func()
}

func (e *externals) open(name string) (io.ReadCloser, error) {
	if from := e.stored[name]; from != nil {
		return from.Open(name)
	}
	file := e.temporary[name]
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return io.NopCloser(io.NewSectionReader(file, 0, info.Size())), nil
}

func (e *externals) close() error {
	var errs []error
	for _, file := range e.temporary {
		errs = append(errs, file.Close())
	}
	for _, remove := range e.remove {
		remove()
	}
	return errors.Join(errs...)
}

// withExternal fetches the external artifacts of a package, or finds them in the store, and returns the archive with them.
func (c *Catalog) withExternal(ctx context.Context, spec vnfm.PackageSpec, parsed *csar.Package, archive csar.Archive) (csar.Archive, vnfm.Problems, error) {
	var problems vnfm.Problems
	out := &externals{temporary: map[string]*os.File{}, stored: map[string]fs.FS{}}
	known, err := c.knownExternals(ctx, spec, parsed)
	if err != nil {
		return archive, nil, err
	}
	for i := range parsed.Artifacts {
		a := &parsed.Artifacts[i]
		if !a.External {
			continue
		}
		if a.Hash == "" {
			problems = append(problems, vnfm.Problem{
				Severity: vnfm.SeverityWarning, File: parsed.ManifestFile, Summary: "the external artifact " + fetch.Redact(a.Path) + " is not fetched",
				Detail: "nothing says what it must be; add Algorithm and Hash to its Source",
			})
			continue
		}
		info, found := known.find(a.Path)
		if found {
			out.stored[a.Path] = known.content
		} else if info, err = out.fetch(ctx, spec, a); err != nil {
			_ = out.close()
			return archive, nil, err
		}
		a.Size, a.Digest, a.External = info.Size, info.Digest, false
		out.files = append(out.files, info)
	}
	if len(out.files) == 0 {
		return archive, problems, nil
	}
	return csar.WithExternal(archive, out.files, out.open, out.close), problems, nil
}

// fetch downloads one artifact and verifies its digest, however integrity is treated: it is of another place than the package.
func (e *externals) fetch(ctx context.Context, spec vnfm.PackageSpec, a *csar.Artifact) (csar.FileInfo, error) {
	file, remove, err := tempfile.Create("")
	if err != nil {
		return csar.FileInfo{}, fmt.Errorf("storing the external artifact %s: %w", fetch.Redact(a.Path), err)
	}
	e.temporary[a.Path] = file
	e.remove = append(e.remove, remove)
	h := a.NewHash()
	access := accessFor(spec, a.Path)
	answer, err := fetch.Get(ctx, fetch.Request{
		URL: a.Path, What: "the external artifact", Limit: maxDownload, Access: access, Public: true,
	}, io.MultiWriter(file, h))
	if err != nil {
		return csar.FileInfo{}, err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != a.Hash {
		return csar.FileInfo{}, fmt.Errorf("the external artifact %s is not the one that the package declares: its %s is %s, declared is %s", fetch.Redact(a.Path), a.Algorithm, got, a.Hash)
	}
	info, err := file.Stat()
	if err != nil {
		return csar.FileInfo{}, fmt.Errorf("storing the external artifact %s: %w", fetch.Redact(a.Path), err)
	}
	return csar.FileInfo{Path: a.Path, Size: info.Size(), Digest: answer.Checksum}, nil
}

// accessFor is how one gets in where an artifact is: as into the source of the package on the same server, else only the CA is trusted.
func accessFor(spec vnfm.PackageSpec, artifact string) *vnfm.ChartAccess {
	if spec.Access == nil {
		return nil
	}
	source, err := url.Parse(spec.Source)
	at, artifactErr := url.Parse(artifact)
	if err == nil && artifactErr == nil && fetch.SameOrigin(source, at) {
		return spec.Access
	}
	return &vnfm.ChartAccess{CACertificate: spec.Access.CACertificate}
}

// knownFiles are the external files that the store has of a content.
type knownFiles struct {
	files   map[string]vnfm.PackageFile
	content fs.FS
}

func (k knownFiles) find(name string) (csar.FileInfo, bool) {
	f, ok := k.files[name]
	return csar.FileInfo{Path: f.Path, Size: f.Size, Digest: f.Digest}, ok
}

// knownExternals finds the package of the same content in the store. What it has was verified with the same digests, which are part
// of the content.
func (c *Catalog) knownExternals(ctx context.Context, spec vnfm.PackageSpec, parsed *csar.Package) (knownFiles, error) {
	_, en, err := c.record(ctx, vnfm.PackageID(spec.Name, parsed.Digest))
	if errors.Is(err, vnfm.ErrNotFound) {
		return knownFiles{}, nil
	}
	if err != nil {
		return knownFiles{}, err
	}
	p, err := c.withContent(ctx, en)
	if err != nil {
		return knownFiles{}, err
	}
	known := knownFiles{files: map[string]vnfm.PackageFile{}, content: p.Content}
	for _, f := range p.Files {
		if isExternal(f.Path) {
			known.files[f.Path] = f
		}
	}
	return known, nil
}
