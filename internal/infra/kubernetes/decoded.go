package kubernetes

import (
	"crypto/sha256"
	"sync"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// One plan or apply renders the same package several times: for the preview, the look
// at the VIM, the dry run and the operation itself. Reading its YAML is the most of
// that, and is done once in a process.

// maxDecoded bounds the texts whose manifests are kept. What they become takes some
// times as much.
const maxDecoded = 4 << 20

// decodedTexts keeps the manifests of texts, by file and content.
type decodedTexts struct {
	mu   sync.Mutex
	byID map[decodedID][]manifest
	size int
}

type decodedID struct {
	file string
	sum  [sha256.Size]byte
}

var decoded decodedTexts

// manifests returns the manifests of a file as decodeManifests reads them. The caller
// may change them.
func (d *decodedTexts) manifests(file string, text []byte, ps *vnfm.Problems) []manifest {
	id := decodedID{file, sha256.Sum256(text)}
	d.mu.Lock()
	kept, ok := d.byID[id]
	d.mu.Unlock()
	if ok {
		return copied(kept)
	}
	before := len(*ps)
	out := decodeManifests(file, text, false, ps)
	if len(*ps) > before {
		return out
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.size+len(text) > maxDecoded {
		return out
	}
	if d.byID == nil {
		d.byID = map[decodedID][]manifest{}
	}
	if _, twice := d.byID[id]; !twice {
		d.byID[id] = lean(file, text, copied(out))
		d.size += len(text)
	}
	return out
}

// lean leaves the nodes out, which take more room than all else and are needed to
// tell the place of a problem only. Then the text is read again.
func lean(file string, text []byte, all []manifest) []manifest {
	for i := range all {
		all[i].node = &yaml.Node{Kind: all[i].node.Kind, Line: all[i].node.Line, Column: all[i].node.Column}
		all[i].whole = func() *yaml.Node {
			var ps vnfm.Problems
			return decodeManifests(file, text, false, &ps)[i].node
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
