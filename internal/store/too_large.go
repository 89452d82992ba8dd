package store

import "fmt"

// TooLargeError says that a content is larger than a store keeps. Such a content stays at
// its source, and is read there by its digest when it is needed.
type TooLargeError struct {
	Digest string
	// Limit is the size of the largest content that the store keeps, in bytes.
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("content %s is larger than the %d bytes that the store keeps: it stays at its source", e.Digest, e.Limit)
}
