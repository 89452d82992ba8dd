package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
)

// File is a file to write on a host.
type File struct {
	Path    string
	Content []byte
	Mode    fs.FileMode
	// Owner is "user:group"; empty is the connected user, or root with Sudo.
	Owner string
	// Sudo writes as root.
	Sudo bool
	// MkdirAll makes the folders that are missing; without it they must exist.
	MkdirAll bool
}

// ReadFile returns the content of a file, with sudo as root. The error is fs.ErrNotExist
// for one that is not there.
func (c *Client) ReadFile(ctx context.Context, path string, sudo bool) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// WriteFile makes a file what it shall be and reports whether it was something else. It
// is replaced in one step, and nobody can read it in between who may not afterwards.
func (c *Client) WriteFile(ctx context.Context, f File) (changed bool, err error) {
	return false, errors.ErrUnsupported
}

// Upload writes a large file of a known size in bytes, which takes its place when all of
// it has arrived.
func (c *Client) Upload(ctx context.Context, path string, size int64, content io.Reader, mode fs.FileMode, sudo bool) error {
	return errors.ErrUnsupported
}
