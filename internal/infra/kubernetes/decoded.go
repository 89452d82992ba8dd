package kubernetes

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
	maxDecoded       = 4 << 20
	maxDecodedValues = 400_000
)

// decodedTexts keeps the manifests of texts, by file and content.
type decodedTexts struct {
	mu   sync.Mutex
	byID map[decodedID]*decodedText
	// size is in bytes.
	size   int
	values int64
}

// decodedText is a text that was read without a problem.
type decodedText struct {
	manifests []manifest
	// bytes and values are what reading it takes from a budget.
	bytes, values int64
}

type decodedID struct {
	file string
	sum  [sha256.Size]byte
}

var decoded decodedTexts

// manifests returns the manifests of a file as decodeManifests reads them. The caller
// may change them. The budget is charged alike whether the text was read before or not, so
// that it does not depend on that what is refused.
func (d *decodedTexts) manifests(b *budget.Budget, file string, text []byte, ps *vnfm.Problems) []manifest {
	id := decodedID{file, sha256.Sum256(text)}
	d.mu.Lock()
	kept := d.byID[id]
	d.mu.Unlock()
	if kept != nil && b.Bytes(kept.bytes) == nil && b.Values(kept.values) == nil {
		return located(b, file, text, copied(kept.manifests))
	}
	before := len(*ps)
	bytes, values := b.Taken()
	out := decodeManifests(b, file, text, false, ps)
	if len(*ps) > before {
		return out
	}
	read := &decodedText{}
	read.bytes, read.values = b.Taken()
	read.bytes -= bytes
	read.values -= values
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.size+len(text) > maxDecoded || d.values+read.values > maxDecodedValues {
		return out
	}
	if d.byID == nil {
		d.byID = map[decodedID]*decodedText{}
	}
	if d.byID[id] == nil {
		read.manifests = lean(copied(out))
		d.byID[id] = read
		d.size += len(text)
		d.values += read.values
	}
	return out
}

// lean leaves the documents out, which take more room than all else and are needed to
// tell the place of a problem only.
func lean(all []manifest) []manifest {
	for i := range all {
		all[i].node = &yaml.Node{Kind: all[i].node.Kind, Line: all[i].node.Line, Column: all[i].node.Column}
		all[i].doc = nil
	}
	return all
}

// located has the text read again, once for all its manifests, when the place of a problem is
// asked for. It was read within a budget before, and is bounded by maxDecoded.
func located(b *budget.Budget, file string, text []byte, all []manifest) []manifest {
	again := sync.OnceValue(func() []manifest {
		var ps vnfm.Problems
		return decodeManifests(budget.New(b.Context(), budget.Limits{}), file, text, false, &ps)
	})
	for i := range all {
		lean := all[i]
		all[i].whole = func() *manifest {
			if whole := again(); i < len(whole) {
				return &whole[i]
			}
			return &lean
		}
	}
	return all
}

// copied copies manifests, but not the nodes that only tell their places.
func copied(all []manifest) []manifest {
	out := make([]manifest, 0, len(all))
	for _, m := range all {
		m.content = runtime.DeepCopyJSON(m.content)
		out = append(out, m)
	}
	return out
}
