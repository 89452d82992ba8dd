package vnfd

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// maxLoads bounds the imports of one VNFD, counted each time a file is named
// with another namespace prefix.
const maxLoads = 1000

// etsiTypes matches the names of the type definitions that ETSI publishes, whose
// types this package knows, with the version suffixes that are in use.
var etsiTypes = lazyregexp.New(`^etsi_nfv_sol001_(vnfd|common|nsd|pnfd)[0-9a-z._-]*\.ya?ml$`)

// importRef is one entry of imports.
type importRef struct {
	value
	ref    string
	prefix string
}

// imports reads all notations: a string, {file: ...}, {name: file},
// {name: {file: ...}}, in a list or in a mapping, with namespace_prefix.
func (d *document) imports() []importRef {
	section := d.root.get("imports")
	var refs []importRef
	one := func(v value) {
		switch {
		case v.isText():
			refs = append(refs, importRef{value: v, ref: v.node.Value})
		case v.isMap():
			file := v.get("file")
			if ref, ok := file.text(); ok {
				refs = append(refs, importRef{value: file, ref: ref, prefix: v.get("namespace_prefix").str()})
			} else if !file.ok() {
				//findings:says add file with the path of a file of the package
				v.errorf("imports: an import names no file")
			}
		case v.ok():
			v.errorf("imports: an import must be a string or a mapping, not %s", describe(v))
		}
	}
	named := func(v value) {
		if v.get("file").node != nil {
			one(v)
			return
		}
		for _, e := range v.entries() {
			one(e.value)
		}
	}
	switch {
	case section.isMap():
		named(section)
	case section.isList():
		for _, item := range section.items() {
			if item.isMap() {
				named(item)
			} else {
				one(item)
			}
		}
	default:
		one(section)
	}
	return refs
}

// load registers the types of d under the namespace scope and follows its
// imports; chain is the way of files to d.
func (r *reader) load(d *document, scope string, chain []string) {
	if d.loaded {
		// Once more under another prefix: what is wrong was said already.
		before := len(r.problems)
		defer func() { r.problems = r.problems[:before] }()
	}
	d.loaded = true
	r.types.register(d, scope)
	for _, ref := range d.imports() {
		r.loads++
		if r.loads > maxLoads {
			return
		}
		r.follow(d, ref, scope, chain)
	}
}

// follow reads the file that an import names, once per file.
func (r *reader) follow(from *document, ref importRef, scope string, chain []string) {
	ref.doc.r.stepsAt(ref.doc, ref.node, 1+len(chain))
	known := etsiTypes.MatchString(path.Base(ref.ref))
	switch {
	case !r.readsImports():
		if !known {
			//findings:says parse_vnfd reads one file; register the package to have its imports read
			ref.warnf("the import %s is not read here", ref.ref)
		}
		return
	case strings.HasPrefix(ref.ref, "http://") || strings.HasPrefix(ref.ref, "https://"):
		if known {
			ref.warnf("the import %s is not fetched; the ETSI types are known", ref.ref)
		} else {
			ref.errorf("the import %s is outside the package, and nothing is fetched; put the file into the package", ref.ref)
		}
		return
	case strings.Contains(ref.ref, "://"):
		ref.errorf("the import %s is outside the package; only files of the package can be imported", ref.ref)
		return
	}
	file, data, err := r.open(from.file, ref.ref)
	if err != nil {
		switch {
		case errors.Is(err, fs.ErrNotExist) && known:
			ref.warnf("the import %s is not in the package; the ETSI types are known", ref.ref)
		case errors.Is(err, fs.ErrNotExist):
			//findings:says add the file, or write its path relative to the importing file or from the root of the package
			ref.errorf("the import %s is not in the package%s", ref.ref, r.otherCase(from.file, ref.ref))
		case errors.Is(err, errOutside):
			//findings:says put the file into the package, and write its path there
			ref.errorf("the import %s leads out of the package", ref.ref)
		default:
			//findings:says the archive may be damaged: obtain or pack it again
			ref.errorf("the import %s cannot be read: %v", ref.ref, err)
		}
		return
	}
	if slices.Contains(chain, file) {
		//findings:says remove one of these imports
		ref.warnf("the import %s is circular: %s", ref.ref, strings.Join(append(slices.Clone(chain), file), " -> "))
		return
	}
	if ref.prefix != "" {
		scope += ref.prefix + ":"
	}
	d, seen := r.byFile[file]
	if !seen {
		d = r.parse(file, data)
		r.byFile[file] = d
		if d != nil {
			d.scope = scope
			d.checkHead(false)
			r.docs = append(r.docs, d)
		}
	}
	if d == nil || r.types.has(d, scope) {
		return
	}
	r.load(d, scope, append(slices.Clone(chain), file))
}

var errOutside = errors.New("outside the package")

// open finds an imported file: beside the file that names it, as TOSCA says, or
// else from the root of the package, as some packages write it.
func (r *reader) open(from, ref string) (string, []byte, error) {
	first := path.Join(path.Dir(from), ref)
	if strings.HasPrefix(ref, "/") {
		first = path.Clean(strings.TrimLeft(ref, "/"))
	}
	if !fs.ValidPath(first) {
		return "", nil, errOutside
	}
	data, err := r.content(first)
	root := path.Clean(ref)
	if errors.Is(err, fs.ErrNotExist) && root != first && fs.ValidPath(root) {
		if other, rerr := r.content(root); rerr == nil {
			first, data, err = root, other, nil
		}
	}
	return first, data, err
}

// content reads a file of the package, unless its document is there already.
func (r *reader) content(file string) ([]byte, error) {
	if _, seen := r.byFile[file]; seen {
		return nil, nil
	}
	return r.file(file)
}

// beside returns the documents in the directory of the entry that no import
// names; some packages leave it to the VNFM to find their flavours there.
func (r *reader) beside(entry *document) []*document {
	if !r.readsImports() {
		return nil
	}
	dir := path.Dir(entry.file)
	list, err := fs.ReadDir(r.fsys, dir)
	if err != nil {
		return nil
	}
	var docs []*document
	for _, f := range list {
		file := path.Join(dir, f.Name())
		ext := path.Ext(file)
		if f.IsDir() || ext != ".yaml" && ext != ".yml" || etsiTypes.MatchString(f.Name()) {
			continue
		}
		if _, seen := r.byFile[file]; seen {
			continue
		}
		data, err := r.file(file)
		if err != nil {
			continue
		}
		// Anything may lie in that directory, so that a file which is no
		// template is passed over without a word.
		var d *document
		found := r.aside(func() { d = r.parse(file, data) })
		if d == nil || !d.root.at("topology_template", "substitution_mappings").isMap() {
			continue
		}
		r.problems = append(r.problems, found...)
		d.checkHead(false)
		r.byFile[file] = d
		r.docs = append(r.docs, d)
		r.load(d, "", []string{entry.file, file})
		docs = append(docs, d)
	}
	return docs
}
