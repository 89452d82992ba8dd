package lcm

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// content reads the files of an onboarded package out of the store. Only what is
// opened is read: an image in a package costs nothing to an operation that does
// not need it. fs.FS has no context, so reads are bounded by their size alone.
type content struct {
	store store.Store
	files map[string]vnfm.PackageFile
	cache *contentCache
	// directories are found out when they are first asked for.
	directories func() map[string][]string
}

var (
	_ fs.ReadFileFS = (*content)(nil)
	_ fs.ReadDirFS  = (*content)(nil)
	_ fs.StatFS     = (*content)(nil)
)

func newContent(s store.Store, cache *contentCache, files []vnfm.PackageFile) *content {
	c := &content{store: s, cache: cache, files: make(map[string]vnfm.PackageFile, len(files))}
	for _, f := range files {
		c.files[f.Path] = f
	}
	c.directories = sync.OnceValue(func() map[string][]string { return directoriesOf(c.files) })
	return c
}

// Open implements fs.FS. Small files are read and unsealed once in a process.
func (c *content) Open(name string) (fs.File, error) {
	f, ok := c.files[name]
	if !ok {
		entries, err := c.ReadDir(name)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return &openDir{info: dirInfo(name), left: entries}, nil
	}
	info := contentInfo{f}
	if data, ok := c.cache.get(f.Digest); ok {
		return &contentFile{ReadCloser: io.NopCloser(bytes.NewReader(data)), info: info}, nil
	}
	r, err := c.store.OpenBlob(context.Background(), f.Digest)
	if err != nil {
		return nil, fmt.Errorf("the content of %s is damaged or lost; apply the package again: %w", name, err)
	}
	if f.Size > maxCachedFile {
		return &contentFile{ReadCloser: r, info: info}, nil
	}
	data, err := io.ReadAll(r)
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	c.cache.put(f.Digest, data)
	return &contentFile{ReadCloser: io.NopCloser(bytes.NewReader(data)), info: info}, nil
}

// ReadFile implements fs.ReadFileFS.
func (c *content) ReadFile(name string) ([]byte, error) {
	f, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return data, nil
}

const (
	// maxCachedFile and maxCached bound what of package contents stays in memory:
	// manifests and descriptors, and not images.
	maxCachedFile = 1 << 20
	maxCached     = 16 << 20
)

// contentCache keeps small contents by digest as long as the process runs. One
// apply renders the same manifests several times, and each sealed file costs an
// exchange of keys to open. It is safe for concurrent use; nobody changes what it
// gives.
type contentCache struct {
	mu    sync.Mutex
	byKey map[string][]byte
	size  int
}

func (c *contentCache) get(digest string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	data, ok := c.byKey[digest]
	return data, ok
}

// put keeps a content unless there is too much already.
func (c *contentCache) put(digest string, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[digest]; ok || c.size+len(data) > maxCached {
		return
	}
	if c.byKey == nil {
		c.byKey = map[string][]byte{}
	}
	c.byKey[digest] = data
	c.size += len(data)
}

type contentFile struct {
	io.ReadCloser
	info contentInfo
}

func (f *contentFile) Stat() (fs.FileInfo, error) { return f.info, nil }

type contentInfo struct{ file vnfm.PackageFile }

func (i contentInfo) Name() string     { return path.Base(i.file.Path) }
func (i contentInfo) Size() int64      { return i.file.Size }
func (contentInfo) Mode() fs.FileMode  { return 0o400 }
func (contentInfo) ModTime() time.Time { return time.Time{} }
func (contentInfo) IsDir() bool        { return false }
func (contentInfo) Sys() any           { return nil }
