package vnfm

import (
	"errors"
	"fmt"
	"slices"
)

// RightsError says that a plan did without something, since the credentials of this run may not do it. It is for runs that plan and
// never apply: who may read and not write misses what the VIM would reject, and who may not read all kinds misses drift of the others.
type RightsError struct {
	// Doing is what was left out: "trying objects on VIM "edge"".
	Doing string
	// Err is what the other side said, or which rights are missing.
	Err error
}

func (e *RightsError) Error() string {
	return fmt.Sprintf("%s: the credentials of this run have no right to do that: %v", e.Doing, e.Err)
}

func (e *RightsError) Unwrap() error { return e.Err }

// LacksRightsOnly reports whether an error consists of RightsErrors: nothing else went wrong.
func LacksRightsOnly(err error) bool {
	switch e := err.(type) { //nolint:errorlint // each part is looked at
	case *RightsError:
		return true
	case interface{ Unwrap() []error }:
		parts := e.Unwrap()
		return len(parts) > 0 && !slices.ContainsFunc(parts, func(err error) bool { return !LacksRightsOnly(err) })
	default:
		inner := errors.Unwrap(err)
		return inner != nil && LacksRightsOnly(inner)
	}
}
