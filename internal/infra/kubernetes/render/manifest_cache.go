package render

import (
	"crypto/sha256"
	"io/fs"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A plan or apply renders the same package several times: for the preview, the observation,
// the dry run and the operation. Most of that time is spent on YAML, which is read once in
// a process.

// Bounds of the cache: bytes of the files, and the values in them, which aliases can
// multiply.
const (
	maxCachedBytes  = 4 << 20
	maxCachedValues = 400_000
)

// manifestCache caches the manifests of files, by path and content.
type manifestCache struct {
	mu   sync.Mutex
	byID map[cacheKey]*cachedFile
	// size is in bytes.
	size   int
	values int64
}

// cachedFile is a file that was read without a problem.
type cachedFile struct {
	manifests []manifest
	// bytes and values are what reading the file takes from a budget.
	bytes, values int64
}

type cacheKey struct {
	file string
	sum  [sha256.Size]byte
}

var cache manifestCache

// manifests returns the manifests of a file as decodeManifests reads them. The caller may
// change them. The budget is charged alike for a cached file, so that the cache does not
// decide what is rejected.
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

// withoutDocuments drops the documents: they take most of the room, and only the places of
// problems need them.
func withoutDocuments(all []manifest) []manifest {
	for i := range all {
		all[i].node = &yaml.Node{Kind: all[i].node.Kind, Line: all[i].node.Line, Column: all[i].node.Column}
		all[i].doc = nil
	}
	return all
}

// withLazyPlaces reads the file again, once for all its manifests, when the place of a
// problem is needed. It was read within a budget before, and is bounded by maxCachedBytes.
func withLazyPlaces(b *budget.Budget, file string, text []byte, all []manifest) []manifest {
	again := sync.OnceValue(func() []manifest {
		var ps vnfm.Problems
		return decodeManifests(budget.New(b.Context(), budget.Limits{}), file, text, false, &ps)
	})
	for i := range all {
		lean := all[i]
		all[i].withDocument = func() *manifest {
			if read := again(); i < len(read) {
				return &read[i]
			}
			return &lean
		}
	}
	return all
}

// copyManifests copies manifests except for their nodes.
func copyManifests(all []manifest) []manifest {
	out := make([]manifest, 0, len(all))
	for _, m := range all {
		m.content = runtime.DeepCopyJSON(m.content)
		out = append(out, m)
	}
	return out
}

// readManifests reads all documents of a file of the package. JSON is read as YAML.
func readManifests(b *budget.Budget, fsys fs.FS, file string, ps *vnfm.Problems) []manifest {
	text, err := b.ReadFile(fsys, file)
	if err != nil {
		*ps = append(*ps, vnfm.Problem{File: file, Summary: "cannot be read", Detail: err.Error() + "; make the files that the instance reads fewer or smaller"})
		return nil
	}
	return cache.manifests(b, file, text, ps)
}
