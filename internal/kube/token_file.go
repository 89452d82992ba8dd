package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// maxLocalFile is in bytes, far more than a token, a certificate or a kubeconfig has.
const maxLocalFile = 4 << 20

// tokenFile is a file with a bearer token, such as a projected token of a pod or of a pipeline,
// which another process replaces before the token expires. It is read at each request.
type tokenFile struct {
	path string
	last atomic.Pointer[identity]
}

// String implements identitySource.
func (f *tokenFile) String() string { return fmt.Sprintf("the token file %q", f.path) }

// current reads the file. If that fails, for example during a replacement, the last token is used
// again.
func (f *tokenFile) current(context.Context) (*identity, error) {
	who, err := f.read()
	last := f.last.Load()
	switch {
	case err != nil && last != nil:
		return last, nil
	case err != nil:
		return nil, err
	case last != nil && last.token == who.token:
		return last, nil
	}
	f.last.Store(who)
	return who, nil
}

func (f *tokenFile) renewed(_ context.Context, refused *identity) (*identity, error) {
	who, err := f.read()
	if err != nil || who.token == refused.token {
		return nil, err
	}
	f.last.Store(who)
	return who, nil
}

func (f *tokenFile) read() (*identity, error) {
	text, err := readLocal(f.path)
	if err != nil {
		return nil, err
	}
	token, err := cleanToken(string(text))
	if err != nil {
		return nil, fmt.Errorf("the file %w: it must hold the token alone, in one line", err)
	}
	return &identity{token: token}, nil
}

// readLocal reads a file of this machine. Its errors do not repeat the path.
func readLocal(path string) ([]byte, error) {
	// Opening a pipe would block until another process writes to it.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file: it must be on each machine where Terraform runs")
	case err != nil:
		return nil, withoutPath(err)
	case info.IsDir():
		return nil, errors.New("it is not a file but a directory")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxLocalFile+1))
	if err != nil {
		return nil, withoutPath(err)
	}
	if len(text) > maxLocalFile {
		return nil, errors.New("the file is larger than 4 MiB")
	}
	return text, nil
}

func withoutPath(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}

// expandHome replaces "~/" at the beginning of a path by the home directory.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// serviceAccountFolder is the folder of the service account in a pod.
const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"

// podAccess returns the access of the pod that runs this process. The kubelet replaces the files,
// which are read again.
func podAccess(folder string) (access, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return access{}, errors.New("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: this process is not in a pod")
	}
	token, ca := &tokenFile{path: filepath.Join(folder, "token")}, filepath.Join(folder, "ca.crt")
	if _, err := token.read(); err != nil {
		return access{}, fmt.Errorf("%s: %w", token, err)
	}
	if _, err := readLocal(ca); err != nil {
		return access{}, fmt.Errorf("the CA file %q: %w", ca, err)
	}
	return access{endpoint: "https://" + net.JoinHostPort(host, port), caFile: ca, source: token}, nil
}
