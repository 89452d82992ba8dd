package catalog

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Stat implements fs.StatFS. Nothing is read.
func (c *content) Stat(name string) (fs.FileInfo, error) {
	if f, ok := c.files[name]; ok {
		return contentInfo{f}, nil
	}
	if _, ok := c.directories()[name]; ok {
		return dirInfo(name), nil
	}
	return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
}

// ReadDir implements fs.ReadDirFS.
func (c *content) ReadDir(name string) ([]fs.DirEntry, error) {
	names, ok := c.directories()[name]
	if !ok {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrNotExist}
	}
	out := make([]fs.DirEntry, 0, len(names))
	for _, entry := range names {
		info, err := c.Stat(path.Join(name, entry))
		if err != nil {
			return nil, err
		}
		out = append(out, fs.FileInfoToDirEntry(info))
	}
	return out, nil
}

// directoriesOf returns the directories that files are in, each with the names of
// its entries in order.
func directoriesOf(files map[string]vnfm.PackageFile) map[string][]string {
	out := map[string][]string{".": nil}
	for file := range files {
		if isExternal(file) {
			continue
		}
		for name := file; name != "."; name = path.Dir(name) {
			dir := path.Dir(name)
			known := slices.Contains(out[dir], path.Base(name))
			if !known {
				out[dir] = append(out[dir], path.Base(name))
			}
		}
	}
	for _, names := range out {
		slices.SortFunc(names, strings.Compare)
	}
	return out
}

// openDir is a directory that was opened.
type openDir struct {
	info dirInfo
	left []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openDir) Close() error               { return nil }
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: string(d.info), Err: fs.ErrInvalid}
}

// ReadDir implements fs.ReadDirFile.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 || n > len(d.left) {
		if n > 0 && len(d.left) == 0 {
			return nil, io.EOF
		}
		n = len(d.left)
	}
	out := d.left[:n]
	d.left = d.left[n:]
	return out, nil
}

// dirInfo describes a directory by its path.
type dirInfo string

func (i dirInfo) Name() string     { return path.Base(string(i)) }
func (dirInfo) Size() int64        { return 0 }
func (dirInfo) Mode() fs.FileMode  { return fs.ModeDir | 0o500 }
func (dirInfo) ModTime() time.Time { return time.Time{} }
func (dirInfo) IsDir() bool        { return true }
func (dirInfo) Sys() any           { return nil }
