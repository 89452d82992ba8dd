package records

import (
	"errors"
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// EditedError is the error of a record whose secrets were sealed for another destination; any
// other error stays as it is.
func EditedError(err error, record vnfm.EditedRecord, doing string) error {
	if e, ok := errors.AsType[*seal.EditedError](err); ok {
		return &vnfm.EditedError{Doing: doing, Fields: e.Fields, Record: record}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
