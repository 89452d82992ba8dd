package catalog

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
// not need it. fs.FS has no context: reads end with that of In, and are bounded by their size alone without it.
type content struct {
	ctx   context.Context //nolint:containedctx // see above
	store store.Store
	files map[string]vnfm.PackageFile
	// bundle is the digest of the content in which the small files are, empty for a
	// package whose files are all contents of their own.
	bundle string
	cache  *contentCache
	// location is the source of large files that the store does not keep, empty where the record must not have it.
	location string
	// access is how one gets in there; nil where all may.
	access *vnfm.ChartAccess
	// directories are found out when they are first asked for.
	directories func() map[string][]string
}

var (
	_ fs.ReadFileFS = (*content)(nil)
	_ fs.ReadDirFS  = (*content)(nil)
	_ fs.StatFS     = (*content)(nil)
)

func newContent(s store.Store, cache *contentCache, files []vnfm.PackageFile, bundle, location string) *content {
	c := &content{ctx: context.Background(), store: s, cache: cache, bundle: bundle, location: location, files: make(map[string]vnfm.PackageFile, len(files))}
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
	if c.bundle != "" && f.Size <= maxBundled {
		files, err := c.bundled()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if data, ok := files[f.Digest]; ok {
			return &contentFile{ReadCloser: io.NopCloser(bytes.NewReader(data)), info: info}, nil
		}
	}
	if f.Size > maxCachedFile {
		r, err := c.openLarge(f)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		return &contentFile{ReadCloser: r, info: info}, nil
	}
	files, err := c.cache.files(f.Digest, func() (map[string][]byte, error) {
		text, err := c.read(f.Digest)
		return map[string][]byte{f.Digest: text}, err
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return &contentFile{ReadCloser: io.NopCloser(bytes.NewReader(files[f.Digest])), info: info}, nil
}

// bundled are the files of the bundle by their digests.
func (c *content) bundled() (map[string][]byte, error) {
	return c.cache.files(c.bundle, func() (map[string][]byte, error) {
		text, err := c.read(c.bundle)
		if err != nil {
			return nil, err
		}
		return readBundle(text)
	})
}

// FileDigest is the digest of a file, empty when the package has none of that name.
func (c *content) FileDigest(name string) string { return c.files[name].Digest }

// open opens a content of the store.
func (c *content) open(digest string) (io.ReadCloser, error) {
	r, err := c.store.OpenBlob(c.ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("the content is damaged or lost; apply the package again: %w", err)
	}
	return r, nil
}

// read reads a content of the store as a whole.
func (c *content) read(digest string) ([]byte, error) {
	r, err := c.open(digest)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(r)
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	return text, err
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

// contentCache keeps small contents, and the files of bundles, in memory up to maxCached: one
// apply renders the same manifests several times. It is safe for concurrent use; callers must
// not modify the contents.
type contentCache struct {
	mu sync.Mutex
	// kept is in the order in which it came; the first goes when there is no room.
	kept []cachedContent
}

// cachedContent is the files of a content by their digests.
type cachedContent struct {
	digest string
	files  map[string][]byte
	size   int
}

// files returns the files of a content, and reads it unless it is kept.
func (c *contentCache) files(digest string, read func() (map[string][]byte, error)) (map[string][]byte, error) {
	// Held while it is read: others that wait want the same.
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.kept {
		if c.kept[i].digest == digest {
			return c.kept[i].files, nil
		}
	}
	files, err := read()
	if err != nil {
		return nil, err
	}
	fresh := cachedContent{digest: digest, files: files}
	for _, data := range files {
		fresh.size += len(data)
	}
	c.kept = append(c.kept, fresh)
	total := 0
	for i := range c.kept {
		total += c.kept[i].size
	}
	for total > maxCached && len(c.kept) > 1 {
		total -= c.kept[0].size
		c.kept = c.kept[1:]
	}
	return files, nil
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
