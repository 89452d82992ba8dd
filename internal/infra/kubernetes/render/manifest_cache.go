package render

import (
	"crypto/sha256"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// One plan or apply renders the same package several times: for the preview, the look
// at the VIM, the dry run and the operation itself. Reading its YAML is the most of
// that, and is done once in a process.

// Bounds of what is kept: bytes of the texts, and values that they become, which aliases can
// multiply.
const (
	maxCachedBytes  = 4 << 20
	maxCachedValues = 400_000
)

// manifestCache keeps the manifests of texts, by file and content.
type manifestCache struct {
	mu   sync.Mutex
	byID map[cacheKey]*cachedFile
	// size is in bytes.
	size   int
	values int64
}

// cachedFile is a text that was read without a problem.
type cachedFile struct {
	manifests []manifest
	// bytes and values are what reading it takes from a budget.
	bytes, values int64
}

type cacheKey struct {
	file string
	sum  [sha256.Size]byte
}

var cache manifestCache

// manifests returns the manifests of a file as decodeManifests reads them. The caller
// may change them. The budget is charged alike whether the text was read before or not, so
// that it does not depend on that what is refused.
func (d *manifestCache) manifests(b *budget.Budget, file string, text []byte, ps *vnfm.Problems) []manifest {
	id := cacheKey{file, sha256.Sum256(text)}
	d.mu.Lock()
	kept := d.byID[id]
	d.mu.Unlock()
	if kept != nil && b.Bytes(kept.bytes) == nil && b.Values(kept.values) == nil {
		return withLazyPlaces(b, file, text, copyManifests(kept.manifests))
	}
	before := len(*ps)
	bytes, values := b.Taken()
	out := decodeManifests(b, file, text, false, ps)
	if len(*ps) > before {
		return out
	}
	read := &cachedFile{}
	read.bytes, read.values = b.Taken()
	read.bytes -= bytes
	read.values -= values
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.size+len(text) > maxCachedBytes || d.values+read.values > maxCachedValues {
		return out
	}
	if d.byID == nil {
		d.byID = map[cacheKey]*cachedFile{}
	}
	if d.byID[id] == nil {
		read.manifests = withoutDocuments(copyManifests(out))
		d.byID[id] = read
		d.size += len(text)
		d.values += read.values
	}
	return out
}

// withoutDocuments leaves the documents out, which take more room than all else and are needed to
// tell the place of a problem only.
func withoutDocuments(all []manifest) []manifest {
	for i := range all {
		all[i].node = &yaml.Node{Kind: all[i].node.Kind, Line: all[i].node.Line, Column: all[i].node.Column}
		all[i].doc = nil
	}
	return all
}

// withLazyPlaces has the text read again, once for all its manifests, when the place of a problem is
// asked for. It was read within a budget before, and is bounded by maxDecoded.
func withLazyPlaces(b *budget.Budget, file string, text []byte, all []manifest) []manifest {
	again := sync.OnceValue(func() []manifest {
		var ps vnfm.Problems
		return decodeManifests(budget.New(b.Context(), budget.Limits{}), file, text, false, &ps)
	})
	for i := range all {
		lean := all[i]
		all[i].withDocument = func() *manifest {
			if whole := again(); i < len(whole) {
				return &whole[i]
			}
			return &lean
		}
	}
	return all
}

// copyManifests copies manifests, but not the nodes that only tell their places.
func copyManifests(all []manifest) []manifest {
	out := make([]manifest, 0, len(all))
	for _, m := range all {
		m.content = runtime.DeepCopyJSON(m.content)
		out = append(out, m)
	}
	return out
}
