//go:build !linux

package sweep

import (
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/layout"
	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/process"
)

// strays finds nothing: where processes work is to be seen on Linux alone.
func strays(layout.Dir) []process.Record { return nil }
