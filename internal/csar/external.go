package csar

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// NewHash returns the digest algorithm of an artifact that declares one; nil for one that does not.
func (a *Artifact) NewHash() hash.Hash {
	if a.Hash == "" {
		return nil
	}
	return algorithms[a.Algorithm].New()
}

// WithExternal returns an archive that also holds files under their URLs, which open opens. They are read by their names, and are in no
// directory. Both archives are closed by closing one; closer frees what open reads.
func WithExternal(a Archive, files []FileInfo, open func(name string) (io.ReadCloser, error), closer func() error) Archive {
	e := &externalArchive{Archive: a, extra: map[string]FileInfo{}, open: open, close: closer}
	for _, f := range files {
		e.extra[f.Path] = f
	}
	e.files = append(slices.Clone(a.Files()), files...)
	slices.SortFunc(e.files, func(a, b FileInfo) int { return strings.Compare(a.Path, b.Path) })
	return e
}

type externalArchive struct {
	Archive
	files []FileInfo
	extra map[string]FileInfo
	open  func(name string) (io.ReadCloser, error)
	close func() error
}

// Files implements Archive.
func (e *externalArchive) Files() []FileInfo { return e.files }

// Open implements fs.FS.
func (e *externalArchive) Open(name string) (fs.File, error) {
	f, ok := e.extra[name]
	if !ok {
		return e.Archive.Open(name)
	}
	r, err := e.open(name)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{entry: entry{name: path.Base(name), size: f.Size, mode: 0o444}, r: &verifyingReader{r: r, want: f, h: sha256.New()}, c: r}, nil
}

// ReadFile implements fs.ReadFileFS.
func (e *externalArchive) ReadFile(name string) (data []byte, err error) {
	if _, ok := e.extra[name]; !ok {
		return e.Archive.ReadFile(name)
	}
	f, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(f)
}

// Close implements Archive.
func (e *externalArchive) Close() error { return errors.Join(e.Archive.Close(), e.close()) }
