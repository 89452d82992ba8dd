// Package openstack runs OpenStack for tests: its real services, from Debian's packages, in a root of their own, with
// configuration and data in the directory of the lab.
package openstack

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
)

// EnvCache is the variable that names the folder of what all labs share, instead of one in the user's cache.
const EnvCache = "VNF_LAB_CACHE"

// cacheFolder is that folder in the user's cache, so that a new checkout begins with what an earlier one has unpacked.
const cacheFolder = "terraform-provider-vnf/openstack"

// Lab runs the OpenStack lab of one directory.
type Lab struct {
	Dir layout.Dir
	// Executable is this program: it is started again for every program of the lab.
	Executable string
	Log        *slog.Logger
}

// ErrUnable says that the machine cannot run the lab.
var ErrUnable = errors.New("OpenStack's services cannot run here")

// able tells whether the lab can run at all: its programs see a root and mounts of their own.
func able() error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("%w: they need Linux, and this is %s", ErrUnable, runtime.GOOS)
	}
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: they need a root directory of their own, which only root can give them", ErrUnable)
	}
	return nil
}

// cache is the folder of what all labs share; without a cache of the user it is beside the lab's own program, with a name
// that the go command passes over when it looks for packages.
func (l *Lab) cache() string {
	if folder := os.Getenv(EnvCache); folder != "" {
		return folder
	}
	if folder, err := os.UserCacheDir(); err == nil {
		return filepath.Join(folder, filepath.FromSlash(cacheFolder))
	}
	return filepath.Join(filepath.Dir(l.Executable), ".openstack")
}
