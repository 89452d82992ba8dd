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

// cacheFolder is the folder, beside the lab's own program, of what all labs share. The go command passes over folders
// with such a name when it looks for packages.
const cacheFolder = ".openstack"

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

func (l *Lab) cache() string { return filepath.Join(filepath.Dir(l.Executable), cacheFolder) }
