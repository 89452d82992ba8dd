package vnfd

import (
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// reader holds what is shared by all the documents of one VNFD.
type reader struct {
	budget *budget.Budget
	// at is the last node that was read, and in its document: where the reading stands when the budget is spent.
	at *yaml.Node
	in *document
	// fsys is nil when a single document is read without its imports.
	fsys     fs.FS
	problems vnfm.Problems
	// docs are in the order of the imports, the entry document first.
	docs   []*document
	byFile map[string]*document
	types  typeTable
	places places
	loads  int
	// suggestions counts the types for which the nearest was looked for.
	suggestions int
}

func newReader(b *budget.Budget, fsys fs.FS) *reader {
	r := &reader{budget: b, fsys: fsys, byFile: map[string]*document{}, places: places{}}
	r.types = newTypeTable(r)
	return r
}

// stopped is what the reading panics with when the budget is spent, with the problem that says so.
type stopped struct{ problem vnfm.Problem }

// steps draws steps for the node that was read last. It ends the reading when there are none left.
func (r *reader) steps(n int) {
	if err := r.budget.Steps(int64(n)); err != nil {
		r.stop(err)
	}
}

// values draws values that are kept besides those of the file: what aliases and namespaces multiply.
func (r *reader) values(n int) {
	if err := r.budget.Values(int64(n)); err != nil {
		r.stop(err)
	}
}

func (r *reader) stepsAt(d *document, at *yaml.Node, n int) {
	r.in, r.at = d, at
	r.steps(n)
}

func (r *reader) stop(err error) {
	var ps vnfm.Problems
	if r.in == nil {
		//findings:says leave out what the VNFD does not need: nodes, imports, aliases
		ps.Errorf("", 0, 0, "reading the VNFD was stopped: %v", err)
	} else {
		at := value{doc: r.in, node: r.at}.place()
		//findings:says leave out what the VNFD does not need: nodes, imports, aliases
		ps.Errorf(at.file, at.line, at.column, "reading the VNFD was stopped here: %v", err)
	}
	panic(stopped{ps[0]})
}

// file reads a file that what is left of the budget can hold.
func (r *reader) file(name string) ([]byte, error) {
	if err := r.budget.Err(); err != nil {
		r.stop(err)
	}
	data, err := r.budget.ReadFile(r.fsys, name)
	if spent := r.budget.Err(); spent != nil {
		var ps vnfm.Problems
		//findings:says import fewer or smaller files
		ps.Errorf(name, 0, 0, "with this file the VNFD has %v", spent)
		panic(stopped{ps[0]})
	}
	return data, err
}

// mostProblems is how many problems of one VNFD are listed.
const mostProblems = 100

// Read reads the descriptor whose entry definitions file is entry, a
// slash-separated path inside fsys. Imports are resolved inside fsys only: an
// http or https import is a warning when it names one of ETSI's type files, whose
// types are known, and an error otherwise.
//
// The problems include those of check, with positions; where there are more than 100, the
// errors come first and the rest is counted. Reading ends with one error when b is spent.
// The descriptor is never nil; it must not be used when the problems have errors.
func Read(b *budget.Budget, fsys fs.FS, entry string) (*vnfm.Descriptor, vnfm.Problems) {
	r := newReader(b, fsys)
	entry = path.Clean(strings.TrimPrefix(entry, "./"))
	return r.bounded(func() *vnfm.Descriptor {
		data, err := r.file(entry)
		if err != nil {
			//findings:says name a file of the package in Entry-Definitions; if it is there, the archive may be damaged: pack it again
			r.problems.Errorf(entry, 0, 0, "cannot read the entry definitions: %v", err)
			return &vnfm.Descriptor{}
		}
		return r.read(entry, data)
	})
}

// bounded runs the reading to its end, or until the budget is spent.
func (r *reader) bounded(read func() *vnfm.Descriptor) (d *vnfm.Descriptor, problems vnfm.Problems) {
	defer func() {
		if cause := recover(); cause != nil {
			end, ok := cause.(stopped)
			if !ok {
				panic(cause)
			}
			d = &vnfm.Descriptor{}
			r.problems = append(r.problems, end.problem)
		}
		r.problems.Under(ruleTOSCA)
		problems = r.problems.Capped(mostProblems)
		for i := range problems {
			p := &problems[i]
			p.Summary, p.Detail = budget.Clip(p.Summary), budget.Clip(p.Detail)
		}
	}()
	return read(), nil
}

// Parse reads one VNFD document without its imports; file is used in positions
// alone. Node types that are neither defined in the document nor ETSI's are
// warnings, and so is the absence of deployment flavours, since both may live in
// the documents that are imported.
func Parse(b *budget.Budget, file string, data []byte) (*vnfm.Descriptor, vnfm.Problems) {
	r := newReader(b, nil)
	return r.bounded(func() *vnfm.Descriptor { return r.read(file, data) })
}

func (r *reader) read(file string, data []byte) *vnfm.Descriptor {
	entry := r.parse(file, data)
	if entry == nil {
		return &vnfm.Descriptor{}
	}
	if r.refuseYANG(entry) {
		return &vnfm.Descriptor{}
	}
	entry.checkHead(true)
	r.docs = append(r.docs, entry)
	r.byFile[file] = entry
	r.load(entry, "", []string{file})
	if r.loads > maxLoads {
		//findings:says leave out imports that another imported file has already
		entry.root.get("imports").errorf("the VNFD has more than %d imports, counted once for each chain of imports that leads to a file", maxLoads)
	}
	d := r.descriptor(entry)
	r.problems = append(r.problems, check(d, r)...)
	return d
}

// readsImports tells whether the imports were read, so that what is missing is missing.
func (r *reader) readsImports() bool { return r.fsys != nil }

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
	v.doc.r.values(1)
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
