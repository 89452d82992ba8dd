package store

import (
	"errors"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// ErrReadOnly is returned, as part of an error that says more, for a write that the user of a store has no right to.
var ErrReadOnly = vnfm.ErrReadOnlyStore

// refusedWrite is an error that is ErrReadOnly as well; its text stays.
type refusedWrite struct{ error }

// Is implements the interface of package errors.
func (refusedWrite) Is(target error) bool { return target == ErrReadOnly }

// Unwrap implements the interface of package errors.
func (e refusedWrite) Unwrap() error { return e.error }

// RefusedWrite marks the error of a store for a write that its user has no right to.
func RefusedWrite(err error) error { return refusedWrite{err} }

// Spared returns the error of a write that is done again by whoever may write: nil for a user who may only read, so that a role that
// plans and never applies can plan.
func Spared(err error) error {
	if errors.Is(err, ErrReadOnly) {
		return nil
	}
	return err
}
