package vnfd

import (
	"context"
	"io/fs"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// readVNFD reads with the default limits.
func readVNFD(fsys fs.FS, entry string) (*vnfm.Descriptor, vnfm.Problems) {
	return Read(budget.New(context.Background(), budget.Limits{}), fsys, entry)
}

// parseVNFD parses with the default limits.
func parseVNFD(file string, data []byte) (*vnfm.Descriptor, vnfm.Problems) {
	return Parse(budget.New(context.Background(), budget.Limits{}), file, data)
}
