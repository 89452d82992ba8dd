package csar

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
)

// Archive is the raw content of a package: a read-only tree of regular files. Its
// paths are relative, slash-separated and clean. Reading a file whose content is no longer
// the one seen when the archive was opened is an error. Safe for concurrent use.
type Archive interface {
	fs.FS
	fs.ReadFileFS
	// Files lists all files sorted by path. The caller must not change the slice.
	Files() []FileInfo
	// Close releases what the archive holds open.
	Close() error
}

// FileInfo describes one file of an archive.
type FileInfo struct {
	// Path is relative to the root of the package, slash-separated.
	Path string
	// Size is the length of the content in bytes.
	Size int64
	// Digest is "sha256:" and the digest of the content in lower-case hexadecimal.
	Digest string
}

// Limits bounds what an archive may hold. A zero field stands for its default.
type Limits struct {
	// MaxFiles is the greatest number of files. Default 100,000.
	MaxFiles int
	// MaxFileBytes is the greatest size of one file in bytes. Default 16 GiB, room for
	// a virtual machine image.
	MaxFileBytes int64
	// MaxTotalBytes is the greatest size of all files together in bytes. Default 32 GiB.
	MaxTotalBytes int64
	// MaxRatio is the greatest ratio of uncompressed to compressed size, of an entry
	// with more than 1 MiB of content and of a whole zip. Default 200; deflate can reach 1,032.
	MaxRatio int
}

// DefaultLimits returns the limits that hold by default.
func DefaultLimits() Limits {
	return Limits{
		MaxFiles:      100_000,
		MaxFileBytes:  16 << 30,
		MaxTotalBytes: 32 << 30,
		MaxRatio:      200,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		MaxFiles:      cmp.Or(l.MaxFiles, d.MaxFiles),
		MaxFileBytes:  cmp.Or(l.MaxFileBytes, d.MaxFileBytes),
		MaxTotalBytes: cmp.Or(l.MaxTotalBytes, d.MaxTotalBytes),
		MaxRatio:      cmp.Or(l.MaxRatio, d.MaxRatio),
	}
}

// ContentDigest returns "sha256:<hex>" over the sorted list of paths and file digests.
// It is equal for a directory and a zip of it, and independent of times, modes, order and
// compression.
func ContentDigest(a Archive) string {
	h := sha256.New()
	for _, f := range a.Files() {
		// Paths hold no control characters, so the two separators are unambiguous.
		_, _ = fmt.Fprintf(h, "%s\x00%s\n", f.Path, f.Digest)
	}
	return digest.Sum(h)
}

// FromFiles returns an archive of the given contents by path, for packages that are
// already in memory. The contents must not be changed afterwards.
func FromFiles(files map[string][]byte) Archive {
	infos := make([]FileInfo, 0, len(files))
	for name, data := range files {
		infos = append(infos, FileInfo{Path: name, Size: int64(len(data)), Digest: digest.Of(data)})
	}
	return newTree(infos, func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files[name])), nil
	}, nil)
}

// tree implements Archive over a list of files and a way to open them.
type tree struct {
	files []FileInfo
	index map[string]int
	dirs  map[string][]fs.DirEntry
	open  func(name string) (io.ReadCloser, error)
	close func() error
	// stored is in how many bytes all files came, 0 where it is not known.
	stored int64
	// hidden are the files that are not read as part of the package, with what each is.
	hidden map[string]string
}

// without returns an archive without some files, which are given with what each is. To open one of them is an error that says so. Both
// archives are closed by closing one.
func without(a Archive, hidden map[string]string) Archive {
	var files []FileInfo
	for _, f := range a.Files() {
		if hidden[f.Path] == "" {
			files = append(files, f)
		}
	}
	open := func(name string) (io.ReadCloser, error) { return a.Open(name) }
	if t, ok := a.(*tree); ok {
		open = t.open
	}
	t := newTree(files, open, a.Close)
	t.hidden = hidden
	return t
}

func newTree(files []FileInfo, open func(string) (io.ReadCloser, error), closer func() error) *tree {
	slices.SortFunc(files, func(a, b FileInfo) int { return strings.Compare(a.Path, b.Path) })
	t := &tree{
		files: files,
		index: make(map[string]int, len(files)),
		dirs:  map[string][]fs.DirEntry{".": nil},
		open:  open,
		close: closer,
	}
	for i, f := range files {
		t.index[f.Path] = i
		t.addEntry(f.Path, entry{name: path.Base(f.Path), size: f.Size, mode: 0o444})
	}
	for _, entries := range t.dirs {
		sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	}
	return t
}

// addEntry registers a file or directory with its parent, and the parent with its own.
func (t *tree) addEntry(name string, e entry) {
	parent := path.Dir(name)
	_, known := t.dirs[parent]
	t.dirs[parent] = append(t.dirs[parent], e)
	if !known {
		t.addEntry(parent, entry{name: path.Base(parent), mode: fs.ModeDir | 0o555})
	}
}

// Files implements Archive.
func (t *tree) Files() []FileInfo { return t.files }

// FileDigest is the digest of a file, empty when there is none of that name.
func (t *tree) FileDigest(name string) string {
	if i, ok := t.index[name]; ok {
		return t.files[i].Digest
	}
	return ""
}

// Close implements Archive.
func (t *tree) Close() error {
	if t.close == nil {
		return nil
	}
	return t.close()
}

// Open implements fs.FS.
func (t *tree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if i, ok := t.index[name]; ok {
		f := t.files[i]
		r, err := t.open(name)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return &file{entry: entry{name: path.Base(name), size: f.Size, mode: 0o444}, r: &verifyingReader{r: r, want: f, h: sha256.New()}, c: r}, nil
	}
	if what := t.hidden[name]; what != "" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("it is %s, which only the verification of the package reads", what)}
	}
	if entries, ok := t.dirs[name]; ok {
		return &dir{entry: entry{name: path.Base(name), mode: fs.ModeDir | 0o555}, entries: entries}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// ReadFile implements fs.ReadFileFS.
func (t *tree) ReadFile(name string) (data []byte, err error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return data, nil
}

// verifyingReader fails when the content is not the one that was digested when the
// archive was opened: a directory can change under a running apply.
type verifyingReader struct {
	r    io.Reader
	want FileInfo
	h    hash.Hash
	n    int64
	err  error
}

func (v *verifyingReader) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.r.Read(p)
	v.h.Write(p[:n])
	v.n += int64(n)
	if v.n > v.want.Size || (errors.Is(err, io.EOF) && digest.Sum(v.h) != v.want.Digest) {
		err = fmt.Errorf("reading %q: the content changed since the package was opened", v.want.Path)
	}
	v.err = err
	return n, err
}

// entry is the fs.FileInfo and fs.DirEntry of files and directories alike.
type entry struct {
	name string
	size int64
	mode fs.FileMode
}

func (e entry) Name() string               { return e.name }
func (e entry) Size() int64                { return e.size }
func (e entry) Mode() fs.FileMode          { return e.mode }
func (e entry) Type() fs.FileMode          { return e.mode.Type() }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) IsDir() bool                { return e.mode.IsDir() }
func (e entry) Sys() any                   { return nil }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) String() string             { return fs.FormatDirEntry(e) }

type file struct {
	entry
	r io.Reader
	c io.Closer
}

func (f *file) Stat() (fs.FileInfo, error) { return f.entry, nil }
func (f *file) Read(p []byte) (int, error) { return f.r.Read(p) }
func (f *file) Close() error               { return f.c.Close() }

type dir struct {
	entry
	entries []fs.DirEntry
	offset  int
}

func (d *dir) Stat() (fs.FileInfo, error) { return d.entry, nil }
func (d *dir) Close() error               { return nil }

func (d *dir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errors.New("is a directory")}
}

// ReadDir implements fs.ReadDirFile.
func (d *dir) ReadDir(n int) ([]fs.DirEntry, error) {
	rest := d.entries[d.offset:]
	if n > 0 {
		if len(rest) == 0 {
			return nil, io.EOF
		}
		rest = rest[:min(n, len(rest))]
	}
	d.offset += len(rest)
	return slices.Clone(rest), nil
}
