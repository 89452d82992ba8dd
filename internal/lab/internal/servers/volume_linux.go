package servers

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// disks are loop devices over the files of volumes, by the names of these. A server has them as long as it runs. The kernel
// frees a loop device with its last descriptor: those here are the first ones, and with this process, however it ends, they
// end too. A mount in a server keeps its device for as long as it lasts.
type disks struct {
	mu     sync.Mutex
	byFile map[string]*os.File
}

// open makes the device of a volume.
func (d *disks) open(h *host, volume Volume) error {
	disk, err := openLoop(filepath.Join(h.Volumes, volume.File), h.Data)
	if err != nil {
		return fmt.Errorf("making a disk of volume %s: %w", volume.File, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.byFile == nil {
		d.byFile = map[string]*os.File{}
	}
	d.byFile[volume.File] = disk
	return nil
}

// get is the device of a volume; nil for none.
func (d *disks) get(file string) *os.File {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byFile[file]
}

// close puts the device of a volume away. All writes to it are in the file then.
func (d *disks) close(file string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	disk := d.byFile[file]
	if disk == nil {
		return nil
	}
	delete(d.byFile, file)
	return errors.Join(disk.Sync(), disk.Close())
}

func (d *disks) closeAll() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, disk := range d.byFile {
		errs = append(errs, disk.Sync(), disk.Close())
	}
	d.byFile = nil
	return errors.Join(errs...)
}

// nodesFlag tells Boot the names and numbers of the devices: "vdb=1792,vdc=1793".
func (d *disks) nodesFlag(volumes []Volume) string {
	var nodes []string
	for _, volume := range volumes {
		if number, err := deviceNumber(d.get(volume.File)); err == nil {
			nodes = append(nodes, fmt.Sprintf("%s=%d", volume.Device, number))
		}
	}
	return strings.Join(nodes, ",")
}

// makeNodes makes the devices that nodesFlag names.
func makeNodes(dev, nodes string) error {
	if nodes == "" {
		return nil
	}
	for node := range strings.SplitSeq(nodes, ",") {
		name, text, _ := strings.Cut(node, "=")
		number, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("reading the devices of the server: %w", err)
		}
		if err := unix.Mknod(filepath.Join(dev, name), blockDevice, number); err != nil {
			return fmt.Errorf("%w: making /dev/%s: %w", ErrUnable, name, err)
		}
	}
	return nil
}

// blockDevice is the mode of the device of a disk, which is root's.
const blockDevice = unix.S_IFBLK | 0o600

func deviceNumber(device *os.File) (int, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(device.Fd()), &stat); err != nil {
		return 0, fmt.Errorf("finding the number of %s: %w", device.Name(), err)
	}
	return int(stat.Rdev), nil //nolint:gosec // The number of a device is a small one.
}

// loopAttempts bounds how often somebody else on the machine may take a loop device that was free.
const loopAttempts = 20

// openLoop opens a loop device over a file. folder is one for a node that nobody else needs.
func openLoop(path, folder string) (*os.File, error) {
	backing, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer backing.Close() //nolint:errcheck // The device has the file open.
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: asking for a loop device: %w", ErrUnable, err)
	}
	defer control.Close()                                                                                      //nolint:errcheck // It was only asked.
	config := unix.LoopConfig{Fd: uint32(backing.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}} //nolint:gosec // A descriptor.
	for range loopAttempts {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("%w: asking for a loop device: %w", ErrUnable, err)
		}
		device, err := openLoopNode(number, folder)
		if err != nil {
			return nil, err
		}
		err = unix.IoctlLoopConfigure(int(device.Fd()), &config)
		if err == nil {
			return device, nil
		}
		_ = device.Close()
		if !errors.Is(err, unix.EBUSY) {
			return nil, fmt.Errorf("%w: giving %s its file: %w", ErrUnable, device.Name(), err)
		}
	}
	return nil, fmt.Errorf("somebody else took %d loop devices", loopAttempts)
}

// openLoopNode opens a loop device, which has a node in the machine's /dev only if something keeps that up to date.
func openLoopNode(number int, folder string) (*os.File, error) {
	device, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", number), os.O_RDWR, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return device, err
	}
	const loopMajor = 7
	node := filepath.Join(folder, fmt.Sprintf("loop%d", number))
	if err := unix.Mknod(node, blockDevice, int(unix.Mkdev(loopMajor, uint32(number)))); err != nil { //nolint:gosec // A small number.
		return nil, fmt.Errorf("%w: making a node of a loop device: %w", ErrUnable, err)
	}
	device, err = os.OpenFile(node, os.O_RDWR, 0)
	return device, errors.Join(err, os.Remove(node))
}

// attachVolume gives a server a disk, at once when it runs.
func (s *server) attachVolume(volume Volume) error {
	if s.definition.volume(volume.File) >= 0 {
		return nil
	}
	wanted := s.definition
	if err := wanted.add(volume); err != nil {
		return &problem{http.StatusBadRequest, err}
	}
	volume = wanted.Volumes[len(wanted.Volumes)-1]
	if process := s.current(); process != nil {
		if err := process.plug(s.host, volume); err != nil {
			return errors.Join(err, process.disks.close(volume.File))
		}
	}
	s.definition.Volumes = wanted.Volumes
	return s.save()
}

// plug makes the device of a volume in a server that runs.
func (r *running) plug(h *host, volume Volume) error {
	if err := r.disks.open(h, volume); err != nil {
		return err
	}
	number, err := deviceNumber(r.disks.get(volume.File))
	if err != nil {
		return err
	}
	root, err := r.root()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // It was only reached through.
	dev, err := root.Open("dev")
	if err != nil {
		return fmt.Errorf("opening /dev of the server: %w", err)
	}
	defer dev.Close() //nolint:errcheck // It was only reached through.
	if err := unix.Mknodat(int(dev.Fd()), volume.Device, blockDevice, number); err != nil {
		return fmt.Errorf("%w: making /dev/%s: %w", ErrUnable, volume.Device, err)
	}
	return nil
}

// root opens the root of a server that runs. Nothing leads out of it.
func (r *running) root() (*os.Root, error) {
	root, err := os.OpenRoot(fmt.Sprintf("/proc/%d/root", r.command.Process.Pid))
	if err != nil {
		return nil, fmt.Errorf("opening the root of the server: %w", err)
	}
	return root, nil
}

// detachVolume takes a disk away.
func (s *server) detachVolume(file string) error {
	at := s.definition.volume(file)
	if at < 0 {
		return nil
	}
	if process := s.current(); process != nil {
		if err := process.unplug(s.definition.Volumes[at]); err != nil {
			return err
		}
	}
	s.definition.Volumes = slices.Delete(slices.Clone(s.definition.Volumes), at, at+1)
	return s.save()
}

func (r *running) unplug(volume Volume) error {
	root, err := r.root()
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // It was only reached through.
	if err := root.Remove(filepath.Join("dev", volume.Device)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing /dev/%s of the server: %w", volume.Device, err)
	}
	return r.disks.close(volume.File)
}

// resizeVolume has a server that runs see that a disk has grown.
func (s *server) resizeVolume(file string) error {
	process := s.current()
	if process == nil {
		return nil
	}
	disk := process.disks.get(file)
	if disk == nil {
		return &problem{http.StatusNotFound, fmt.Errorf("server %s has no volume %s", s.definition.ID, file)}
	}
	if err := unix.IoctlSetInt(int(disk.Fd()), unix.LOOP_SET_CAPACITY, 0); err != nil {
		return fmt.Errorf("growing the disk of volume %s: %w", file, err)
	}
	return nil
}
