package store

import (
	"context"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/process"
)

// Portable is implemented by stores whose records and contents can be copied as they are:
// to another store, into a backup and out of it. List with an empty Query gives all records.
type Portable interface {
	Store
	EncodedBlobs
	// Contents returns the digests of all contents in ascending order, those that are
	// damaged included. OpenEncoded reads each.
	Contents(ctx context.Context) ([]string, error)
	// Import stores records as they are, with their revisions and times, in their order. It
	// returns ErrExists when there is a record of the same kind with the id or the natural
	// key of one of them, whatever that record holds. Records that a failed Import has
	// stored may stay; they are complete.
	Import(ctx context.Context, records ...Record) error
	// HeldLeases returns who holds a lease and is not known to be dead, by the names of the
	// leases.
	HeldLeases(ctx context.Context) ([]HeldError, error)
}

// Alive returns those who are not known to be dead.
func Alive(held []HeldError) []HeldError {
	return slices.DeleteFunc(held, func(h HeldError) bool { return process.Dead(h.Holder) })
}
