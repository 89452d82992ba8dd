package vnfd

import (
	"io/fs"
	"path"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// reader holds what is shared by all the documents of one VNFD.
type reader struct {
	// fsys is nil when a single document is read without its imports.
	fsys     fs.FS
	problems vnfm.Problems
	// docs are in the order of the imports, the entry document first.
	docs   []*document
	byFile map[string]*document
	types  typeTable
	places places
	loads  int
}

func newReader(fsys fs.FS) *reader {
	return &reader{fsys: fsys, byFile: map[string]*document{}, types: newTypeTable(), places: places{}}
}

// Read reads the descriptor whose entry definitions file is entry, a
// slash-separated path inside fsys. Imports are resolved inside fsys only: an
// http or https import is a warning when it names one of ETSI's type files, whose
// types are known, and an error otherwise.
//
// The problems include those of Check, with positions. The descriptor is never
// nil; it must not be used when the problems have errors.
func Read(fsys fs.FS, entry string) (*vnfm.Descriptor, vnfm.Problems) {
	r := newReader(fsys)
	entry = path.Clean(strings.TrimPrefix(entry, "./"))
	data, err := fs.ReadFile(fsys, entry)
	if err != nil {
		r.problems.Errorf(entry, 0, 0, "cannot read the entry definitions: %v", err)
		return &vnfm.Descriptor{}, r.problems
	}
	return r.read(entry, data)
}

// Parse reads one VNFD document without its imports; file is used in positions
// alone. Node types that are neither defined in the document nor ETSI's are
// warnings, and so is the absence of deployment flavours, since both may live in
// the documents that are imported.
func Parse(file string, data []byte) (*vnfm.Descriptor, vnfm.Problems) {
	return newReader(nil).read(file, data)
}

func (r *reader) read(file string, data []byte) (*vnfm.Descriptor, vnfm.Problems) {
	entry := r.parse(file, data)
	if entry == nil {
		return &vnfm.Descriptor{}, r.problems
	}
	entry.checkHead(true)
	r.docs = append(r.docs, entry)
	r.byFile[file] = entry
	r.load(entry, "", []string{file})
	if r.loads > maxLoads {
		entry.root.get("imports").errorf("the VNFD has more than %d imports, counted once for each way to a file", maxLoads)
	}
	d := r.descriptor(entry)
	r.problems = append(r.problems, check(d, r.places)...)
	return d, r.problems
}

// whole tells whether the imports were read, so that what is missing is missing.
func (r *reader) whole() bool { return r.fsys != nil }

// place is a position inside the package.
type place struct {
	file         string
	line, column int
}

// places remembers where the parts of a descriptor stood, for the checks that
// run over the finished descriptor. The key is the path of the part.
type places map[string]place

func (p places) add(v value, keys ...string) {
	if v.node == nil {
		return
	}
	p[strings.Join(keys, "\x00")] = v.place()
}

// find returns the position of the part, or else of the part that contains it.
func (p places) find(keys ...string) place {
	for n := len(keys); n > 0; n-- {
		if at, ok := p[strings.Join(keys[:n], "\x00")]; ok {
			return at
		}
	}
	return place{}
}
