// Package layout is what a lab keeps on disk: where each file lies, the state that is remembered between two commands,
// the lock that keeps two commands apart and the ports that were chosen.
package layout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The names of the unix sockets of the lab's services: that of the commands, and the way of the API server into the
// cluster. They are used relative to the directory of the lab, because the path of a unix socket holds only about 100
// bytes.
const (
	ControlSocket = "control.sock"
	EgressSocket  = "egress.sock"
)

// SocketPath is how long the path of a unix socket may be on every system.
const SocketPath = 100

// Dir is the directory of a lab. Everything the lab has lies below it.
type Dir string

// Open makes the directory of a Kubernetes lab when it is missing.
func Open(path string) (Dir, error) { return open(path, "pki", "log", "podlog", "etcd") }

// open makes a directory with its folders when it is missing, and refuses one that holds something else than a lab:
// `lab down` deletes the whole directory.
func open(path string, folders ...string) (Dir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding the directory %q: %w", path, err)
	}
	dir := Dir(absolute)
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return "", fmt.Errorf("making the directory of the lab: %w", err)
	}
	entries, err := os.ReadDir(absolute)
	if err != nil {
		return "", fmt.Errorf("reading the directory of the lab: %w", err)
	}
	if len(entries) > 0 && !dir.IsLab() {
		return "", fmt.Errorf("%s holds other files than a lab's: name an empty or new directory", absolute)
	}
	for _, folder := range folders {
		if err := os.MkdirAll(dir.Path(folder), 0o700); err != nil {
			return "", fmt.Errorf("making the directory of the lab: %w", err)
		}
	}
	return dir, nil
}

// Find is the directory of a lab that was made before.
func Find(path string) (Dir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding the directory %q: %w", path, err)
	}
	dir := Dir(absolute)
	if !dir.IsLab() {
		return "", fmt.Errorf("%w in %s: start one with `lab up --dir %s`", ErrNoLab, absolute, path)
	}
	return dir, nil
}

// ErrNoLab says that a directory holds no lab.
var ErrNoLab = errors.New("there is no lab")

// IsLab tells whether the directory belongs to a lab.
func (d Dir) IsLab() bool {
	_, err := os.Stat(d.lockFile())
	return err == nil
}

// Inner are the labs in directories directly below this one.
func (d Dir) Inner() ([]Dir, error) {
	entries, err := os.ReadDir(string(d))
	if err != nil {
		return nil, fmt.Errorf("looking for labs in the directory of the lab: %w", err)
	}
	var inner []Dir
	for _, entry := range entries {
		if dir := Dir(d.Path(entry.Name())); entry.IsDir() && dir.IsLab() {
			inner = append(inner, dir)
		}
	}
	return inner, nil
}

// Path is the path of something in the directory.
func (d Dir) Path(elements ...string) string {
	return filepath.Join(append([]string{string(d)}, elements...)...)
}

// PKI is the path of a certificate or key.
func (d Dir) PKI(name string) string { return d.Path("pki", name) }

// Log is the path of a program's output.
func (d Dir) Log(program string) string { return d.Path("log", program+".log") }

// Kubeconfig is the path of the kubeconfig of a user of the lab.
func (d Dir) Kubeconfig(user string) string { return d.Path(user + ".kubeconfig") }

// AuditLog is the path of kube-apiserver's audit log, one JSON event a line.
func (d Dir) AuditLog() string { return d.Path("audit.log") }

// LimitedToken is the path of the token of the service account with few rights.
func (d Dir) LimitedToken() string { return d.Path("limited.token") }

func (d Dir) stateFile() string { return d.Path("state.json") }

func (d Dir) lockFile() string { return d.Path("lab.lock") }

// WriteFile writes a file that only its owner can read, and never leaves half of one behind.
func WriteFile(path string, data []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, data, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
