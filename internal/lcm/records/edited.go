package records

import (
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// EditedError is the error of a record whose secrets were sealed for another destination; any
// other error stays as it is.
func EditedError(err error, doing, remedy string) error {
	if e, ok := errors.AsType[*seal.EditedError](err); ok {
		return &vnfm.EditedError{Doing: doing, Fields: e.Fields, Remedy: remedy}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// HostKeysForgotten is what to do when a record with keys of hosts was edited.
const HostKeysForgotten = "the keys of its hosts are forgotten; find out who writes the store, " +
	"give the keys as host_keys or make sure that nobody is in between, and apply again"
