package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// Entry is what is known of a lab outside of its directory, in a folder of the user: whose it is, and what runs. So labs
// are found whose owners were killed, and processes whose lab was deleted.
type Entry struct {
	Dir Dir `json:"dir"`
	// Owner is the process that the lab ends with; none for a lab that stays.
	Owner process.Record `json:"owner,omitzero"`
	// Processes are those that the lab has started, beside the programs of pods.
	Processes []process.Record `json:"processes"`
	// Namespace is where the identifiers of processes belong to; empty where there is only one.
	Namespace string `json:"namespace,omitempty"`
}

// entrySuffix ends the names of entries in the register.
const entrySuffix = ".json"

// register is the folder of the entries. It is the user's alone: what stands there is killed.
func register() (string, error) {
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("vnf-labs-%d", os.Getuid()))
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("making the register of labs: %w", err)
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return "", fmt.Errorf("looking at the register of labs: %w", err)
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 || !known || int(owner.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s, the register of labs, is not a folder that this user alone can write", folder)
	}
	return folder, nil
}

// lockRegister keeps others from changing the register. That takes moments.
func lockRegister() (folder string, unlock func(), err error) {
	folder, err = register()
	if err != nil {
		return "", nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("locking the register of labs: %w", err)
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		if err == nil {
			return folder, func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EINTR) {
			return "", nil, errors.Join(fmt.Errorf("locking the register of labs: %w", err), file.Close())
		}
	}
}

func entryName(dir Dir) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:10]) + entrySuffix
}

// enroll notes what belongs to the lab. Only a lab that has an owner depends on it.
func (d Dir) enroll(owner process.Record, processes process.Set) error {
	folder, unlock, err := lockRegister()
	if err == nil {
		defer unlock()
		entry := Entry{Dir: d, Owner: owner, Namespace: namespace()}
		for _, record := range processes {
			entry.Processes = append(entry.Processes, record)
		}
		err = save(filepath.Join(folder, entryName(d)), entry)
	}
	if owner == (process.Record{}) {
		return nil
	}
	return err
}

// Deleted removes what is noted of a lab when its directory has gone.
func (d Dir) Deleted() error {
	folder, unlock, err := lockRegister()
	if err != nil {
		return err
	}
	defer unlock()
	if d.IsLab() {
		return nil
	}
	if err := os.Remove(filepath.Join(folder, entryName(d))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the lab from the register: %w", err)
	}
	return nil
}

// Registered are all labs of the user whose processes this one can see. One that cannot be read is an error beside them.
func Registered() ([]Entry, error) {
	folder, err := register()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*"+entrySuffix))
	if err != nil {
		return nil, fmt.Errorf("reading the register of labs: %w", err)
	}
	var all []Entry
	var errs []error
	for _, file := range files {
		var entry Entry
		data, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(data, &entry)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("reading the register of labs: %s: %w", file, err))
		} else if entry.Namespace == namespace() {
			all = append(all, entry)
		}
	}
	return all, errors.Join(errs...)
}

// namespace is the one of the identifiers of processes, with the start of the machine, which begins them again.
func namespace() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	own, _ := os.Readlink("/proc/self/ns/pid")
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(own + " " + string(boot))
}

// Abandoned tells of the owner of a lab whether it has ended. A lab without an owner is not abandoned.
func Abandoned(owner process.Record) bool {
	return owner != (process.Record{}) && !owner.Alive()
}

// Heir is the owner of a lab that somebody starts who is, or is not, to be the owner. A lab that stays does so, and one
// keeps its owner as long as that lives.
func Heir(owner, starting process.Record) process.Record {
	if Abandoned(owner) {
		return starting
	}
	return owner
}
