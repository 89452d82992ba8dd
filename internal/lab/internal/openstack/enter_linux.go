package openstack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// inside is where a program finds the directory of its lab.
const inside = "/lab"

// Enter turns this process, which has namespaces of its own, into a program of the lab: with root as its root, and the
// directory of the lab in it. The mounts end with the process, however it ends.
func Enter(root, dir string, command []string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%w: keeping mounts to this process: %w", ErrUnable, err)
	}
	for _, bind := range []struct{ from, to string }{
		{"/dev", "/dev"},
		{"/sys", "/sys"},
		{dir, inside},
		{filepath.Join(dir, "run"), "/run"},
		{filepath.Join(dir, "tmp"), "/tmp"},
	} {
		if err := syscall.Mount(bind.from, filepath.Join(root, bind.to), "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
			return fmt.Errorf("%w: showing %s to the program: %w", ErrUnable, bind.from, err)
		}
	}
	if err := syscall.Mount("proc", filepath.Join(root, "proc"), "proc", 0, ""); err != nil {
		return fmt.Errorf("%w: showing its processes to the program: %w", ErrUnable, err)
	}
	if err := syscall.Chroot(root); err != nil {
		return fmt.Errorf("%w: changing to the root %s: %w", ErrUnable, root, err)
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("entering the root %s: %w", root, err)
	}
	const path = "/usr/sbin:/usr/bin"
	if err := os.Setenv("PATH", path); err != nil {
		return fmt.Errorf("setting the search path: %w", err)
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("finding %s in %s: %w", command[0], root, err)
	}
	environment := []string{"PATH=" + path, "HOME=/root", "LC_ALL=C.UTF-8", "PYTHONPATH=" + filepath.Join(inside, "etc", pythonFolder)}
	if err := syscall.Exec(program, command, environment); err != nil { //nolint:gosec // A program of the lab.
		return fmt.Errorf("starting %s in %s: %w", command[0], root, err)
	}
	return nil
}
