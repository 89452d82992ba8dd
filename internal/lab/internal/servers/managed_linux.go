package servers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// folderData is the one of a server for what its programs keep in file systems of their own.
const folderData = "data"

// mountManaged adds to the root of a server what systemd, and the programs that it starts, need beyond that of a plain one.
func mountManaged(options BootOptions, made system, root string) error {
	var old []string
	if made.node {
		var err error
		if old, err = joinOld(options.Group); err != nil {
			return err
		}
	}
	// Of this thread alone, which is the one that becomes the server's first process. The control group is that of the server
	// by now: had the namespace come with the process, it would be that of the host.
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("%w: keeping control groups to the server: %w", ErrUnable, err)
	}
	if err := mountHybrid(filepath.Join(root, groupsFolder), old); err != nil {
		return err
	}
	if made.node {
		if err := mountNode(options, root); err != nil {
			return err
		}
	}
	for _, name := range made.folders {
		from, to := filepath.Join(options.Folder, folderData, name), filepath.Join(root, "var/lib", name)
		for _, path := range []string{from, to} {
			if err := os.MkdirAll(path, 0o711); err != nil { //nolint:gosec // As Docker has it.
				return fmt.Errorf("making the folder of %s: %w", name, err)
			}
		}
		if err := syscall.Mount(from, to, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("%w: mounting the folder of %s: %w", ErrUnable, name, err)
		}
	}
	return showPrograms(filepath.Join(root, "usr/local/bin"))
}

// showPrograms shows the lab's own program, and the kubectl beside it, in a folder of a server, where they cannot be changed.
func showPrograms(folder string) error {
	lab, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // As in any system.
		return fmt.Errorf("making /usr/local/bin of the server: %w", err)
	}
	for _, program := range []struct{ from, name string }{
		{lab, "lab"}, {filepath.Join(filepath.Dir(lab), "lab-kubectl"), "lab-kubectl"},
	} {
		if _, err := os.Stat(program.from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		to := filepath.Join(folder, program.name)
		if err := os.WriteFile(to, nil, 0o755); err != nil { //nolint:gosec // A program.
			return fmt.Errorf("making /usr/local/bin/%s of the server: %w", program.name, err)
		}
		if err := syscall.Mount(program.from, to, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("%w: showing %s to the server: %w", ErrUnable, program.from, err)
		}
		if err := syscall.Mount("", to, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			return fmt.Errorf("%w: showing %s to the server: %w", ErrUnable, program.from, err)
		}
	}
	return nil
}
