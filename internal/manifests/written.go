package manifests

import (
	"sync/atomic"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fielddiff"
)

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
	if noted := w.digest.Load(); noted != nil && fielddiff.Equal(w.content, content) {
		return *noted
	}
	return ""
}

// NoteDigest notes the digest of a content, when that is what the file says. It must depend on nothing else.
func (w *Written) NoteDigest(content map[string]any, digest string) {
	if w != nil && w.digest.Load() == nil && fielddiff.Equal(w.content, content) {
		w.digest.Store(&digest)
	}
}
