package servers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/poll"
)

// groupsFolder is where control groups are found in any system.
const groupsFolder = "/sys/fs/cgroup"

// groupsPatience bounds the wait for the processes of a control group, which were killed, to be gone.
const groupsPatience = 20 * time.Second

// controlGroups are those of the servers of a host whose systems want one: systemd keeps its services apart by them. They are
// of version 2, which a kernel that uses version 1 has beside it, with the name of the host's link above them. Unlike all else
// they do not end with this process: Sweep removes them.
type controlGroups struct {
	name string

	mu      sync.Mutex
	mounted bool
}

// mountGroups shows the control groups of version 2 to this process, whose mounts are its own.
func mountGroups(at string) error {
	const quiet = syscall.MS_NOSUID | syscall.MS_NOEXEC | syscall.MS_NODEV
	if err := syscall.Mount("cgroup2", at, "cgroup2", quiet, ""); err != nil {
		return fmt.Errorf("%w: mounting the control groups of version 2: %w", ErrUnable, err)
	}
	return nil
}

// start starts the first process of a server in a control group of its own, by its name, unless it is empty.
func (g *controlGroups) start(command *exec.Cmd, name string) error {
	if name == "" {
		return command.Start()
	}
	if err := g.mount(); err != nil {
		return err
	}
	path := g.path(name)
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // As in any system.
		return fmt.Errorf("%w: making a control group: %w", ErrUnable, err)
	}
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("opening a control group: %w", err)
	}
	defer folder.Close() //nolint:errcheck // It was only read from.
	command.SysProcAttr.UseCgroupFD, command.SysProcAttr.CgroupFD = true, int(folder.Fd())
	return command.Start()
}

func (g *controlGroups) path(name string) string { return filepath.Join(groupsFolder, g.name, name) }

func (g *controlGroups) mount() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mounted {
		return nil
	}
	err := mountGroups(groupsFolder)
	g.mounted = err == nil
	return err
}

// remove removes the control group of a server that has ended.
func (g *controlGroups) remove(name string) error {
	if name == "" {
		return nil
	}
	ctx := context.Background()
	return errors.Join(removeGroups(ctx, g.path(name)), removeOld(ctx, filepath.Join(g.name, name)))
}

// removeGroups removes a control group with those below it. Its processes may be about to end.
func removeGroups(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, groupsPatience)
	defer cancel()
	return poll.Until(ctx, "the end of control group "+path, func(context.Context) error {
		var folders []string
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if entry != nil && entry.IsDir() {
				folders = append(folders, name)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, folder := range slices.Backward(folders) {
			if err := unix.Rmdir(folder); err != nil && !errors.Is(err, unix.ENOENT) {
				return fmt.Errorf("removing %s: %w", folder, err)
			}
		}
		return nil
	})
}

// lockFile opens a file and waits until it has locked it.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // A file of the lab.
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the host of servers: %w", err)
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return nil, errors.Join(fmt.Errorf("locking %s: %w", path, err), file.Close())
		}
	}
}

// Sweep waits until the host of servers has ended that has locked a file, and removes the control groups of its servers. This
// process must have a mount namespace.
func Sweep(ctx context.Context, lock string, octet int) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%w: keeping mounts to this process: %w", ErrUnable, err)
	}
	if err := mountGroups(groupsFolder); err != nil {
		return err
	}
	file, err := lockFile(lock)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // It was only locked.
	return errors.Join(removeGroups(ctx, filepath.Join(groupsFolder, uplinkName(octet))), removeOld(ctx, uplinkName(octet)))
}

// ProbeManaged tries whether servers with control groups of their own can run here, beside what Probe does. The error is
// ErrUnable.
func ProbeManaged(ctx context.Context) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%w: keeping mounts to this process: %w", ErrUnable, err)
	}
	if err := mountGroups(groupsFolder); err != nil {
		return err
	}
	path := filepath.Join(groupsFolder, fmt.Sprintf("lab-probe-%d", os.Getppid()))
	if err := os.Mkdir(path, 0o755); err != nil { //nolint:gosec // As in any system.
		return fmt.Errorf("%w: making a control group: %w", ErrUnable, err)
	}
	return removeGroups(ctx, path)
}
