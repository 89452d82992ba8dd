package servers

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// folderSettings is the one of a server with settings of the kernel that it believes to have made.
const folderSettings = "settings"

// nodeSettings are those of the whole machine that kubelet makes unless it finds them made. A node finds them so, in files of
// its own, and the machine stays as it is.
func nodeSettings() map[string]string {
	return map[string]string{
		"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
		"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
	}
}

// mountNode adds to the root of a server what kubelet and containerd need.
func mountNode(options BootOptions, root string) error {
	if err := device(filepath.Join(root, "dev/kmsg"), unix.Mkdev(1, 11)); err != nil {
		return err
	}
	folder := filepath.Join(options.Folder, folderSettings)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // Settings are no secret.
		return fmt.Errorf("making the folder of settings: %w", err)
	}
	for name, value := range nodeSettings() {
		from, to := filepath.Join(folder, strings.ReplaceAll(name, "/", ".")), filepath.Join(root, "proc/sys", name)
		if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.WriteFile(from, []byte(value+"\n"), 0o644); err != nil { //nolint:gosec // As the kernel has it.
			return fmt.Errorf("writing the setting %s: %w", name, err)
		}
		if err := syscall.Mount(from, to, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("%w: showing the setting %s: %w", ErrUnable, name, err)
		}
	}
	if err := setting("net/ipv4/ip_forward", "1"); err != nil {
		return err
	}
	images := filepath.Join(options.Folder, folderData, "containerd")
	if _, err := os.Stat(images); options.Template == "" || err == nil {
		return nil
	}
	return linkTemplate(options.Template, images)
}

// linkTemplate makes a folder of containerd's like another one; it has its name once it is complete. Layers and their files,
// which are not written again, are linked if both are in one file system; all else is copied.
func linkTemplate(from, to string) error {
	work := to + ".new"
	if err := os.RemoveAll(work); err != nil {
		return fmt.Errorf("removing a half-made folder: %w", err)
	}
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return linkEntry(path, filepath.Join(work, inside), inside, entry)
	})
	if err != nil {
		return fmt.Errorf("giving the server the images of its containers: %w", err)
	}
	return os.Rename(work, to)
}

// linkEntry makes one entry of a folder like that of another one; inside is its path in both.
func linkEntry(path, to, inside string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	switch {
	case entry.IsDir():
		if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // It gets its mode next.
			return err
		}
		return os.Chmod(to, info.Mode())
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a file nor a folder", path)
	}
	if strings.HasPrefix(inside, "io.containerd.content.v1.content/blobs/") || strings.Contains(inside, "/snapshots/") {
		if err := os.Link(path, to); !errors.Is(err, syscall.EXDEV) {
			return err
		}
	}
	return copyFile(path, to, info.Mode())
}

func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // It was only read from.
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(mode), out.Close())
}
