package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
)

// File is a file to write on a host.
type File struct {
	Path    string
	Content []byte
	// Mode is 0600 when it is 0.
	Mode fs.FileMode
	// Owner is "user:group"; empty is the connected user, or root with Sudo.
	Owner string
	// Sudo writes as root.
	Sudo bool
	// MkdirAll makes the folders that are missing; without it they must exist.
	MkdirAll bool
}

var (
	//go:embed read.sh
	readScript string
	//go:embed write.sh
	writeScript string
)

const (
	// readLimit is the size in bytes of the largest file that is read.
	readLimit = 16 << 20
	// statusMissing is what read.sh ends with when there is no file.
	statusMissing = 66
)

// ReadFile returns the content of a file of at most 16 MiB, with sudo as root. The error
// is fs.ErrNotExist for one that is not there.
func (c *Client) ReadFile(ctx context.Context, path string, sudo bool) ([]byte, error) {
	// A login shell may print something before.
	marker := "content-" + rand.Text()
	stdout, stderr := &limited{limit: readLimit + tailSize}, &limited{limit: tailSize}
	what := "reading " + path
	err := c.stream(ctx, Command{What: what, Script: readScript, Args: []string{path, marker, strconv.Itoa(readLimit + 1)}, Sudo: sudo}, nil, 0, stdout, stderr)
	var failed *StatusError
	if errors.As(err, &failed) {
		failed.Result.Stderr = c.mask().hide(stderr.String())
		switch {
		case failed.Status == statusMissing && strings.Contains(failed.Result.Stderr, "Permission denied"):
			return nil, fmt.Errorf("%s on %s: %w", what, c.name, fs.ErrPermission)
		case failed.Status == statusMissing:
			return nil, fmt.Errorf("%s on %s: %w", what, c.name, fs.ErrNotExist)
		}
	}
	if err != nil {
		return nil, err
	}
	_, content, found := bytes.Cut(stdout.Bytes(), []byte(marker+"\n"))
	if !found {
		return nil, fmt.Errorf("%s on %s: the login shell swallowed the answer: %q", what, c.name, lastLines(stdout.String(), 3))
	}
	if len(content) > readLimit {
		return nil, fmt.Errorf("%s on %s: it has more than %d MiB", what, c.name, readLimit>>20)
	}
	return content, nil
}

// limited keeps the beginning of what is written.
type limited struct {
	bytes.Buffer
	limit int
}

func (l *limited) Write(p []byte) (int, error) {
	if left := l.limit - l.Len(); len(p) > left {
		l.Buffer.Write(p[:left])
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// WriteFile brings a file to the desired state and reports whether content, mode or owner were
// something else. It is replaced in one step, a link too, and nobody can read it in
// between who may not afterwards.
func (c *Client) WriteFile(ctx context.Context, f File) (changed bool, err error) {
	sum := sha256.Sum256(f.Content)
	folders := ""
	if f.MkdirAll {
		folders = "all"
	}
	result, err := c.write(ctx, writing{
		path: f.Path, size: int64(len(f.Content)), content: bytes.NewReader(f.Content), mode: f.Mode,
		owner: f.Owner, sudo: f.Sudo, folders: folders, sum: hex.EncodeToString(sum[:]),
	})
	return err == nil && result != "unchanged", err
}

// Upload writes a large file of a known size in bytes, which takes its place when all of
// it has arrived. The folder must exist.
func (c *Client) Upload(ctx context.Context, path string, size int64, content io.Reader, mode fs.FileMode, sudo bool) error {
	exact := &exactly{from: content, left: size}
	_, err := c.write(ctx, writing{path: path, size: size, content: exact, mode: mode, sudo: sudo})
	return err
}

// writing are the arguments of write.sh.
type writing struct {
	path    string
	size    int64
	content io.Reader
	mode    fs.FileMode
	owner   string
	sudo    bool
	folders string
	sum     string
}

// write returns the last word of write.sh.
func (c *Client) write(ctx context.Context, w writing) (string, error) {
	if w.mode == 0 {
		w.mode = 0o600
	}
	if w.path == "" || strings.HasSuffix(w.path, "/") {
		return "", fmt.Errorf("writing a file on %s: %q is not the path of a file", c.name, w.path)
	}
	var shared sync.Mutex
	stdout, stderr := &lines{mask: c.mask(), shared: &shared}, &lines{mask: c.mask(), shared: &shared}
	command := Command{
		What: "writing " + w.path, Script: writeScript, Sudo: w.sudo,
		Args: []string{w.path, strconv.FormatInt(w.size, 10), strconv.FormatUint(uint64(w.mode.Perm()), 8), w.owner, w.folders, w.sum},
	}
	err := c.stream(ctx, command, w.content, w.size, stdout, stderr)
	if failed := (*StatusError)(nil); errors.As(err, &failed) {
		failed.Result.Stderr = stderr.close()
	}
	return lastLines(stdout.close(), 1), err
}

// exactly reads a number of bytes, neither more nor less.
type exactly struct {
	from io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.from.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if errors.Is(err, io.EOF) && e.left > 0 {
		return n, fmt.Errorf("it is %d bytes shorter than it should be", e.left)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
