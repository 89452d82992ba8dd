package servers

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// The parts of a server beside its packages: the results of their installation scripts, its users, and its
// first process. There is a folder for the image that all servers share, and one for each system that needs it.
//
//go:embed image
var image embed.FS

// baseFolder is the one of the image that all servers share.
const baseFolder = "base"

// Packages are Debian's, of which the image of servers is made.
func Packages() []string {
	return []string{
		"base-files", "bash", "coreutils", "dash", "debianutils", "diffutils", "findutils", "grep", "gzip", "hostname", "iproute2",
		"iputils-ping", "libc-bin", "login", "mawk", "mount", "ncurses-base", "ncurses-bin", "openssh-server", "passwd", "perl-base",
		"procps", "python3", "sed", "sudo", "tar", "util-linux",
	}
}

// WriteImage makes the root of servers of a folder in which the packages were unpacked. A server may be using it: what is
// there is not written again.
func WriteImage(root string) error {
	if err := writeFiles(root, baseFolder); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(root, "home", userName), 0o755); err != nil { //nolint:gosec // As in any system.
		return fmt.Errorf("writing the image of servers: %w", err)
	}
	if err := os.Chown(filepath.Join(root, "home", userName), userID, userID); err != nil {
		return fmt.Errorf("writing the image of servers: %w", err)
	}
	// The links that scripts of packages would make, and the one that leads to nothing of the machine.
	links := map[string]string{
		"usr/bin/awk": "mawk", "usr/bin/which": "which.debianutils", "etc/mtab": "/proc/self/mounts", "var/run": "/run", "var/lock": "/run/lock",
	}
	if err := writeLinks(root, links); err != nil {
		return err
	}
	return openTemporary(root)
}

// openTemporary has everybody write to the folders that are there for it.
func openTemporary(root string) error {
	for _, name := range []string{"tmp", "var/tmp"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil { //nolint:gosec // As in any system.
			return fmt.Errorf("writing the image of servers: %w", err)
		}
		if err := os.Chmod(filepath.Join(root, name), 0o777|fs.ModeSticky); err != nil { //nolint:gosec // As in any system.
			return fmt.Errorf("writing the image of servers: %w", err)
		}
	}
	return nil
}

// writeFiles writes the files of a folder of the image that are not there as they should be.
func writeFiles(root, folder string) error {
	top := path.Join("image", folder)
	err := fs.WalkDir(image, top, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == top {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := image.ReadFile(name)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(top, filepath.FromSlash(name))
		if err != nil {
			return err
		}
		return writeOnce(filepath.Join(root, inside), data, modeOf(name))
	})
	if err != nil {
		return fmt.Errorf("writing the image of servers: %w", err)
	}
	return nil
}

// writeLinks makes symbolic links, by their path, that are not there. An empty folder of a package gives way to one.
func writeLinks(root string, links map[string]string) error {
	for name, target := range links {
		at := filepath.Join(root, name)
		if present, err := os.Readlink(at); err == nil && present == target {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil { //nolint:gosec // As in any system.
			return fmt.Errorf("writing the image of servers: %w", err)
		}
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("writing the image of servers: %w", err)
		}
		if err := os.Symlink(target, at); err != nil {
			return fmt.Errorf("writing the image of servers: %w", err)
		}
	}
	return nil
}

// modeOf is who may do what with a file of the image.
func modeOf(name string) fs.FileMode {
	switch {
	case path.Base(name) == "shadow":
		return 0o600
	case path.Base(path.Dir(name)) == "sbin", path.Base(path.Dir(name)) == "bin":
		return 0o755
	case path.Base(path.Dir(name)) == "sudoers.d":
		return 0o440
	default:
		return 0o644
	}
}

func writeOnce(path string, data []byte, mode fs.FileMode) error {
	if present, err := os.ReadFile(path); err == nil && string(present) == string(data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // As in any system.
		return err
	}
	if err := layout.WriteFile(path, data); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
