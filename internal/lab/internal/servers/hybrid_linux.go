package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// kubelet and runc need controllers of control groups. Many machines have those in version 1, and version 2 beside them with
// none, as systemd's hybrid mode has it: there a node has a group in each hierarchy of version 1, too. A machine with all
// controllers in version 2 needs nothing of this.

// hierarchies are the hierarchies of version 1 on this machine, by their mount options: "cpu", "cpu,cpuacct" or "name=systemd".
func hierarchies() ([]string, error) {
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("listing the control groups of this process: %w", err)
	}
	var found []string
	for line := range strings.Lines(string(data)) {
		// A line is "4:memory:/group"; that of version 2 is "0::/group".
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 && parts[1] != "" {
			found = append(found, parts[1])
		}
	}
	return found, nil
}

// eachHierarchy mounts each hierarchy of version 1 for a moment. This process must have a mount namespace.
func eachHierarchy(do func(options, at string) error) error {
	all, err := hierarchies()
	if err != nil || len(all) == 0 {
		return err
	}
	at, err := os.MkdirTemp("", "lab-groups-")
	if err != nil {
		return fmt.Errorf("making a mount point: %w", err)
	}
	for _, options := range all {
		if err = syscall.Mount("cgroup", at, "cgroup", 0, options); err != nil {
			err = fmt.Errorf("%w: mounting the control groups of %s: %w", ErrUnable, options, err)
			break
		}
		err = do(options, at)
		if err = errors.Join(err, syscall.Unmount(at, syscall.MNT_DETACH)); err != nil {
			err = fmt.Errorf("control groups of %s: %w", options, err)
			break
		}
	}
	return errors.Join(err, os.Remove(at))
}

// joinOld puts this process into a group in each hierarchy of version 1, and returns the hierarchies.
func joinOld(group string) ([]string, error) {
	var joined []string
	err := eachHierarchy(func(options, at string) error {
		path := at
		for part := range strings.SplitSeq(group, "/") {
			above := path
			path = filepath.Join(path, part)
			if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // As in any system.
				return fmt.Errorf("%w: making a control group: %w", ErrUnable, err)
			}
			if !slices.Contains(strings.Split(options, ","), "cpuset") {
				continue
			}
			// A new group of this controller has no processors, and takes no process before it has some.
			if err := copyFiles(above, path, "cpuset.cpus", "cpuset.mems"); err != nil {
				return err
			}
		}
		if err := os.WriteFile(filepath.Join(path, "cgroup.procs"), []byte("0"), 0); err != nil {
			return fmt.Errorf("%w: entering a control group: %w", ErrUnable, err)
		}
		joined = append(joined, options)
		return nil
	})
	return joined, err
}

// copyFiles copies the text of files of one folder into those of another one.
func copyFiles(from, to string, names ...string) error {
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return fmt.Errorf("reading a setting of a control group: %w", err)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0); err != nil { //nolint:gosec // A file of a control group.
			return fmt.Errorf("setting up a control group: %w", err)
		}
	}
	return nil
}

// removeOld removes a group, with those below it, of each hierarchy of version 1. Where they cannot be mounted, there are none of
// a server.
func removeOld(ctx context.Context, group string) error {
	err := eachHierarchy(func(_, at string) error { return removeGroups(ctx, filepath.Join(at, group)) })
	if errors.Is(err, ErrUnable) {
		return nil
	}
	return err
}

// mountHybrid shows the control groups of version 2 in a root; with hierarchies of version 1 these, and version 2 beside them.
func mountHybrid(at string, old []string) error {
	if len(old) == 0 {
		return mountGroups(at)
	}
	const quiet = syscall.MS_NOSUID | syscall.MS_NOEXEC | syscall.MS_NODEV
	if err := syscall.Mount("tmpfs", at, "tmpfs", quiet, "mode=755"); err != nil {
		return fmt.Errorf("%w: mounting a folder of control groups: %w", ErrUnable, err)
	}
	unified := filepath.Join(at, "unified")
	if err := os.Mkdir(unified, 0o755); err != nil { //nolint:gosec // As in any system.
		return fmt.Errorf("making the mount point of control groups: %w", err)
	}
	if err := mountGroups(unified); err != nil {
		return err
	}
	for _, options := range old {
		to := filepath.Join(at, strings.TrimPrefix(options, "name="))
		if err := os.Mkdir(to, 0o755); err != nil { //nolint:gosec // As in any system.
			return fmt.Errorf("making the mount point of control groups: %w", err)
		}
		if err := syscall.Mount("cgroup", to, "cgroup", quiet, options); err != nil {
			return fmt.Errorf("%w: mounting the control groups of %s: %w", ErrUnable, options, err)
		}
	}
	return nil
}
