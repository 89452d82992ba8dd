//go:build !linux

package sweep

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// users finds nothing: the environment of processes is to be seen on Linux alone.
func users(layout.Entry) []process.Record { return nil }

// podPrograms finds nothing: where processes work is to be seen on Linux alone.
func podPrograms(layout.Dir) []process.Record { return nil }
