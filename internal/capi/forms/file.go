package forms

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"time"

	"sigs.k8s.io/yaml"
)

// ManifestFile is the only file in the package of a workload cluster.
const ManifestFile = "cluster.yaml"

// Encode writes objects as YAML documents, the keys of each in order.
func Encode(objects []map[string]any) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, fmt.Errorf("writing %v %v: %w", o["kind"], o["metadata"], err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

// File is a file system that holds ManifestFile alone.
type File []byte

// Open implements fs.FS.
func (f File) Open(name string) (fs.File, error) {
	if name != ManifestFile {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &openFile{Reader: bytes.NewReader(f), size: int64(len(f))}, nil
}

type openFile struct {
	io.Reader
	size int64
}

// Stat implements fs.File.
func (f *openFile) Stat() (fs.FileInfo, error) { return fileInfo(f.size), nil }

// Close implements fs.File.
func (f *openFile) Close() error { return nil }

type fileInfo int64

// The methods of fs.FileInfo.
func (fileInfo) Name() string       { return ManifestFile }
func (i fileInfo) Size() int64      { return int64(i) }
func (fileInfo) Mode() fs.FileMode  { return 0o444 }
func (fileInfo) ModTime() time.Time { return time.Time{} }
func (fileInfo) IsDir() bool        { return false }
func (fileInfo) Sys() any           { return nil }
