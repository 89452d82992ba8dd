package sqlite

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
)

// networkFileSystems are those of statfs(2) on which SQLite's locks and shared memory do
// not reach the processes of other machines.
var networkFileSystems = map[int64]string{0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB"}

// fileSystemType is the type of the file system that a path is on.
func fileSystemType(path string) (int64, error) {
	var st syscall.Statfs_t
	err := syscall.Statfs(path, &st)
	// Some architectures have a signed number of 32 bits here.
	return int64(uint32(st.Type)), err //nolint:gosec,unconvert // Magic numbers have 32 bits.
}

// networkFileSystem names the network file system that a directory is on, or would be made
// on; empty for a local one.
func networkFileSystem(dir string, fileSystemType func(string) (int64, error)) (string, error) {
	for {
		id, err := fileSystemType(dir)
		parent := filepath.Dir(dir)
		if errors.Is(err, fs.ErrNotExist) && parent != dir {
			dir = parent
			continue
		}
		return networkFileSystems[id], err
	}
}
