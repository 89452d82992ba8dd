package servers

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The folders of a server: what it wrote, what the kernel needs beside it, and where its root is. The first two are those of its
// volume where it boots from one.
const (
	folderWritten = "written"
	folderWork    = "work"
	folderRoot    = "root"
)

// initProgram is the first process of a server, in its image.
const initProgram = "/sbin/lab-init"

// ready is the descriptor on which a server that cannot start says why; it closes when the server has started.
const ready = 3

// Boot turns this process, which has namespaces of its own, into the first one of a server. Standard input ends when its
// network is there.
func Boot(options BootOptions) error {
	// Properties of a thread must be those of the thread that becomes the server.
	runtime.LockOSThread()
	syscall.CloseOnExec(ready)
	err := boot(options)
	if _, lost := io.WriteString(os.NewFile(ready, "ready"), err.Error()); lost != nil {
		return fmt.Errorf("%w (and could not say so: %w)", err, lost)
	}
	return err
}

func boot(options BootOptions) error {
	first := []string{"/bin/sh", initProgram}
	root := filepath.Join(options.Folder, folderRoot)
	if err := mountAll(options, root); err != nil {
		return err
	}
	if options.System != "" {
		s, err := findSystem(options.System)
		if err != nil {
			return err
		}
		if s.managed {
			first = []string{"/sbin/init"}
			if err := mountManaged(options, s, root); err != nil {
				return err
			}
		}
	}
	if err := makeNodes(filepath.Join(root, "dev"), options.Disks); err != nil {
		return err
	}
	if err := enter(root); err != nil {
		return err
	}
	if err := syscall.Sethostname([]byte(options.Hostname)); err != nil {
		return fmt.Errorf("naming the server: %w", err)
	}
	for name, value := range map[string]string{
		// Packets come and go by different cards of a server that has two.
		"net/ipv4/conf/all/rp_filter": "0", "net/ipv4/conf/default/rp_filter": "0",
		// It tells the others that an address is now its.
		"net/ipv4/conf/all/arp_notify": "1", "net/ipv4/conf/default/arp_notify": "1",
		// Its own ping needs no rights.
		"net/ipv4/ping_group_range": "0 2147483647",
	} {
		if err := setting(name, value); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return fmt.Errorf("waiting for the network of the server: %w", err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("opening the server's input: %w", err)
	}
	if err := unix.Dup2(int(null.Fd()), 0); err != nil {
		return fmt.Errorf("giving the server its input: %w", err)
	}
	environment := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8", "container=lab"}
	if err := syscall.Exec(first[0], first, environment); err != nil { //nolint:gosec // A program of the image.
		return fmt.Errorf("starting %s of the server: %w", strings.Join(first, " "), err)
	}
	return nil
}

// mountAll makes the root of a server over its layers.
func mountAll(options BootOptions, root string) error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%w: keeping mounts to this process: %w", ErrUnable, err)
	}
	if err := overlay(options.Layers, options.Written, root); err != nil {
		return err
	}
	const quiet = syscall.MS_NOSUID | syscall.MS_NOEXEC | syscall.MS_NODEV
	for _, m := range []struct {
		kind, to string
		flags    uintptr
		options  string
	}{
		{"proc", "proc", quiet, ""},
		{"sysfs", "sys", quiet | syscall.MS_RDONLY, ""},
		{"tmpfs", "dev", syscall.MS_NOSUID, "mode=755,size=64k"},
		{"devpts", "dev/pts", syscall.MS_NOSUID | syscall.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5"},
		{"tmpfs", "dev/shm", syscall.MS_NOSUID | syscall.MS_NODEV, "mode=1777"},
		{"tmpfs", "run", syscall.MS_NOSUID | syscall.MS_NODEV, "mode=755"},
	} {
		at := filepath.Join(root, m.to)
		if err := os.MkdirAll(at, 0o755); err != nil { //nolint:gosec // As in any system.
			return fmt.Errorf("preparing the root of the server: %w", err)
		}
		if err := syscall.Mount(m.kind, at, m.kind, m.flags, m.options); err != nil {
			return fmt.Errorf("%w: mounting /%s: %w", ErrUnable, m.to, err)
		}
	}
	return devices(filepath.Join(root, "dev"))
}

// overlay mounts the root of a server: the layers of its image, the uppermost first, with what the server writes above them.
func overlay(layers []string, folder, root string) error {
	written, work := filepath.Join(folder, folderWritten), filepath.Join(folder, folderWork)
	for _, path := range []string{written, work, root} {
		if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // Others than root use a server, too.
			return fmt.Errorf("making the folders of the server: %w", err)
		}
	}
	escape := strings.NewReplacer(`\`, `\\`, ":", `\:`, ",", `\,`).Replace
	var lower []string
	for _, layer := range layers {
		lower = append(lower, escape(layer))
	}
	options := "lowerdir=" + strings.Join(lower, ":") + ",upperdir=" + escape(written) + ",workdir=" + escape(work)
	if err := syscall.Mount("overlay", root, "overlay", 0, options); err != nil {
		return fmt.Errorf("%w: mounting a root over the image: %w", ErrUnable, err)
	}
	return nil
}

// devices makes the devices that programs expect.
func devices(dev string) error {
	// The numbers are the kernel's: Documentation/admin-guide/devices.txt.
	for name, minor := range map[string]uint32{"null": 3, "zero": 5, "full": 7, "random": 8, "urandom": 9} {
		if err := device(filepath.Join(dev, name), unix.Mkdev(1, minor)); err != nil {
			return err
		}
	}
	if err := device(filepath.Join(dev, "tty"), unix.Mkdev(5, 0)); err != nil {
		return err
	}
	for name, target := range map[string]string{
		"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
	} {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return fmt.Errorf("making the devices of the server: %w", err)
		}
	}
	return nil
}

func device(path string, number uint64) error {
	if err := unix.Mknod(path, unix.S_IFCHR, int(number)); err != nil { //nolint:gosec // A small number.
		return fmt.Errorf("%w: making %s: %w", ErrUnable, path, err)
	}
	if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // As in any system.
		return fmt.Errorf("making the devices of the server: %w", err)
	}
	return nil
}

// enter makes a folder the root of this process, with nothing of the machine's own root left in it.
func enter(root string) error {
	if err := os.Chdir(root); err != nil {
		return fmt.Errorf("entering the root of the server: %w", err)
	}
	// The old root is put above the new one, at the same place, and taken off: pivot_root(2).
	if err := syscall.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("%w: changing to the root of the server: %w", ErrUnable, err)
	}
	if err := syscall.Unmount(".", syscall.MNT_DETACH); err != nil {
		return fmt.Errorf("%w: leaving the root of the machine: %w", ErrUnable, err)
	}
	return os.Chdir("/")
}
