package manifests

import "sync/atomic"

// Written is an object as a file has it, with the digest of exactly that. It is safe for concurrent use.
type Written struct {
	content map[string]any
	digest  atomic.Pointer[string]
}

// Digest is what was noted for a content, empty when it is another one than that of the file, or when nothing was noted.
func (w *Written) Digest(content map[string]any) string {
	if w == nil {
		return ""
	}
	if noted := w.digest.Load(); noted != nil && equal(w.content, content) {
		return *noted
	}
	return ""
}

// NoteDigest notes the digest of a content, when that is what the file says. It must depend on nothing else.
func (w *Written) NoteDigest(content map[string]any, digest string) {
	if w != nil && w.digest.Load() == nil && equal(w.content, content) {
		w.digest.Store(&digest)
	}
}

// equal compares values of JSON. What is no such value equals nothing.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			other, present := b[name]
			if !present || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case string, bool, int64, float64, nil:
		return a == b
	default:
		return false
	}
}
