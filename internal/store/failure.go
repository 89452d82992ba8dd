package store

import "sync"

// Error says that a store could not do something, and what its user can do about it.
type Error struct {
	// Store names the store.
	Store string
	// Text is the whole error, with the advice at its end and without any secret.
	Text string
	// Advice is what the user can do; empty where nothing is known. It names no record: what has the same advice has the same cause.
	Advice string
	Err    error
	// Given is the advice that the users of this handle have been given.
	Given *Given
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Err }

// Tell notes that the user is told the error. It reports whether one with the same advice about the same store was told before: a store
// that does not answer fails once for each resource.
func (e *Error) Tell() (again bool) {
	if e.Advice == "" || e.Given == nil {
		return false
	}
	_, again = e.Given.advice.LoadOrStore(e.Advice, true)
	return again
}

// Given is the advice that was given about a store.
type Given struct{ advice sync.Map }
