package store

import "fmt"

// TooLargeError says that a content or a record is larger than a store keeps. Nothing was stored. A content
// beyond the bound stays at its source, and is read there by its digest when it is needed.
type TooLargeError struct {
	// What is the name of the object: "content sha256:…", `instance "…"`.
	What string
	// Size is in bytes; 0 when nobody read to the end.
	Size int64
	// Limit is the largest size that the store keeps, in bytes.
	Limit int64
}

func (e *TooLargeError) Error() string {
	if e.Size == 0 {
		return fmt.Sprintf("%s is larger than the %d bytes that the store keeps", e.What, e.Limit)
	}
	return fmt.Sprintf("%s has %d bytes, the store keeps at most %d", e.What, e.Size, e.Limit)
}

// Bounded is implemented by stores that bound the size of a content.
type Bounded interface {
	// MaxContent is the size in bytes of the largest content, in the form that is kept.
	MaxContent() int64
}

// MaxContent returns the size in bytes of the largest content that a store keeps, in the form that is kept; 0 when there is no bound.
func MaxContent(s Store) int64 {
	if bounded, ok := s.(Bounded); ok {
		return bounded.MaxContent()
	}
	return 0
}
