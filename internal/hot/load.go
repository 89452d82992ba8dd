package hot

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

const (
	directory       = "BaseHOT"
	nestedDirectory = "nested"
	// nfv is the parameter that is computed.
	nfv = "nfv"
)

// HasTemplates reports whether a package brings templates for a deployment flavour.
func HasTemplates(p *vnfm.Package, f *vnfm.Flavour) bool {
	dir := path.Join(directory, f.ID) + "/"
	return slices.ContainsFunc(p.Files, func(file vnfm.PackageFile) bool { return strings.HasPrefix(file.Path, dir) })
}

// HasTemplatesAside reports whether a package has templates in BaseHOT itself, where no deployment flavour looks for them.
func HasTemplatesAside(p *vnfm.Package) bool {
	return slices.ContainsFunc(p.Files, func(file vnfm.PackageFile) bool { return path.Dir(file.Path) == directory && isTemplate(file.Path) })
}

// Load reads the templates that a package brings for a deployment flavour, where
// OpenStack Tacker has them: the top-level one in BaseHOT/<flavour id>, nested ones in
// its directory nested. Without them the VNFD is translated. Foreign VDUs are on VIMs that are
// no OpenStack: a template need not have them, and a translation has none of what is for them alone.
// Reading is charged to the budget.
func Load(b *budget.Budget, p *vnfm.Package, f *vnfm.Flavour, foreign ...string) (*Source, vnfm.Problems) {
	var ps vnfm.Problems
	dir := path.Join(directory, f.ID)
	top, found := topTemplate(p, dir, &ps)
	if ps.HasErrors() {
		return nil, ps
	}
	if !found {
		if refuseAside(p, dir, &ps) {
			return nil, ps
		}
		return translate(b, p, without(f, foreign))
	}
	l := loader{b: b, p: p, dir: dir, ps: &ps, nested: map[string]*template{}, files: map[string]string{}}
	t := l.read(top)
	if t == nil {
		return nil, ps
	}
	l.references(t)
	if ps.HasErrors() {
		return nil, ps
	}
	s := &Source{Top: t.body, Files: l.files, VDUs: map[string]VDU{}, top: t, nested: l.nested, work: b.Steps, values: b.Values}
	for name, n := range l.nested {
		s.Files[name] = n.text
	}
	s.findVDUs(f, foreign, &ps)
	s.findCopies(f, &ps)
	l.named(t, s.NameOf)
	for _, name := range sorted(l.nested) {
		l.named(l.nested[name], func(resource string) string { return resource })
	}
	if err := b.Err(); err != nil {
		// The budget ended the reading, so the findings of later steps mean nothing.
		ps = nil
		//findings:says make the templates of the flavour and their files smaller
		ps.Errorf(t.file, 0, 0, "the file has %v", err)
	}
	if ps.HasErrors() {
		return nil, ps
	}
	return s, ps
}

// Declared are the parameters that the top-level template of a flavour declares, without nfv; none where the VNFD is translated. It
// is false where the template cannot be read.
func Declared(b *budget.Budget, p *vnfm.Package, f *vnfm.Flavour) ([]string, bool) {
	var ps vnfm.Problems
	top, found := topTemplate(p, path.Join(directory, f.ID), &ps)
	if !found {
		return nil, !ps.HasErrors()
	}
	data, err := b.ReadFile(p.Content, top)
	if err != nil {
		return nil, false
	}
	t := parse(b, top, data, &ps)
	if t == nil {
		return nil, false
	}
	return declaredIn(t), true
}

// Declared are the parameters of the top-level template, without nfv.
func (s *Source) Declared() []string { return declaredIn(s.top) }

func declaredIn(t *template) []string {
	return slices.DeleteFunc(sorted(t.section("parameters")), func(name string) bool { return name == nfv })
}

// topTemplate finds the one template of a flavour.
func topTemplate(p *vnfm.Package, dir string, ps *vnfm.Problems) (file string, found bool) {
	if p.Content == nil {
		return "", false
	}
	entries, err := fs.ReadDir(p.Content, dir)
	if err != nil {
		return "", false
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && isTemplate(e.Name()) {
			files = append(files, path.Join(dir, e.Name()))
		}
	}
	switch len(files) {
	case 0:
		ps.Errorf(dir, 0, 0, "the directory holds no template; a flavour with BaseHOT has one file *.yaml here, and nested templates in %s", path.Join(dir, nestedDirectory))
	case 1:
		return files[0], true
	default:
		ps.Errorf(files[1], 0, 0, "%s is a template of the same flavour; one of them is at the top, the others belong in %s", files[0], path.Join(dir, nestedDirectory))
	}
	return "", false
}

// refuseAside reports a template that is in BaseHOT itself and not in the directory of a flavour: it would be ignored in silence,
// and the VNFD translated in its place. One beside the directories of other flavours may be a draft, and is left alone.
func refuseAside(p *vnfm.Package, dir string, ps *vnfm.Problems) bool {
	if p.Content == nil {
		return false
	}
	entries, err := fs.ReadDir(p.Content, directory)
	if err != nil {
		return false
	}
	aside := ""
	for _, e := range entries {
		switch {
		case e.IsDir() && e.Name() != nestedDirectory:
			return false
		case !e.IsDir() && isTemplate(e.Name()) && aside == "":
			aside = path.Join(directory, e.Name())
		}
	}
	if aside == "" {
		return false
	}
	*ps = append(*ps, vnfm.Problem{
		File: aside, Summary: "the template is in " + directory + " itself, where no deployment flavour has its templates",
		Detail: "Move it to " + dir + ", and what it refers to as nested templates to " + path.Join(dir, nestedDirectory) + ".",
	})
	return true
}

func isTemplate(name string) bool {
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// loader follows references from file to file.
type loader struct {
	b   *budget.Budget
	p   *vnfm.Package
	dir string
	ps  *vnfm.Problems
	// nested are the templates by the name that they are referred to by, nil while
	// they are read or when they cannot be; files are those of get_file.
	nested map[string]*template
	files  map[string]string
	// budgetReported is set when the end of the budget is among the problems.
	budgetReported bool
}

func (l *loader) read(file string) *template {
	data, err := l.b.ReadFile(l.p.Content, file)
	if l.spent(err, vnfm.Place{File: file}) {
		return nil
	}
	if err != nil {
		//findings:says the archive may be damaged: obtain or pack it again
		l.ps.Errorf(file, 0, 0, "the template cannot be read: %v", err)
		return nil
	}
	t := parse(l.b, file, data, l.ps)
	if t == nil {
		return nil
	}
	if t.body["heat_template_version"] == nil {
		//findings:says add it, for example heat_template_version: 2021-04-16
		l.ps.Errorf(file, 1, 0, "the template has no heat_template_version")
		return nil
	}
	for _, name := range []string{"parameters", "resources", "outputs", "conditions"} {
		if _, ok := t.body[name].(map[string]any); t.body[name] != nil && !ok {
			errorAt(l.ps, t.place(name), "%s must be a mapping", name)
			return nil
		}
	}
	for _, name := range sorted(t.section("resources")) {
		if textOf(mapOf(t.section("resources")[name])["type"]) == "" {
			//findings:says add type, for example OS::Nova::Server
			errorAt(l.ps, t.place("resources", name), "the resource %s has no type", name)
			return nil
		}
	}
	return t
}

// references follows what a template refers to.
func (l *loader) references(t *template) {
	for _, name := range sorted(t.section("resources")) {
		resource := mapOf(t.section("resources")[name])
		l.typeOf(t, []string{"resources", name, "type"}, resource)
		properties := mapOf(resource["properties"])
		for _, key := range memberKeys {
			if member := mapOf(properties[key]); textOf(member["type"]) != "" {
				l.typeOf(t, []string{"resources", name, "properties", key, "type"}, member)
			}
		}
	}
	for _, section := range []string{"resources", "outputs"} {
		visit(t.body[section], []yamlpos.Step{step(section)}, func(way []yamlpos.Step, name string, arg any) bool {
			if name == fnFile {
				l.file(t.at(way), textOf(arg))
			}
			return l.b.Err() == nil
		})
	}
}

// typeOf reads the template that a definition has as its type, and compares the
// properties with what that one declares.
func (l *loader) typeOf(t *template, keys []string, definition map[string]any) {
	name, at := textOf(definition["type"]), t.place(keys...)
	if l.spent(l.b.Steps(costOf(name)), at) {
		return
	}
	if strings.Contains(name, "://") {
		l.refuse(at, "the type %s is an address; a nested template is a file of the package, in %s", name, path.Join(l.dir, nestedDirectory))
		return
	}
	if !isTemplate(name) {
		return
	}
	nested, seen := l.nested[name]
	if !seen {
		l.nested[name] = nil
		file := l.find(name)
		if file == "" {
			//findings:says put the template into this folder, or name another one in type
			errorAt(l.ps, at, "the nested template %s is not in %s", name, path.Join(l.dir, nestedDirectory))
			return
		}
		nested = l.read(file)
		l.nested[name] = nested
		if nested != nil {
			l.references(nested)
		}
	}
	if nested == nil {
		return
	}
	given := mapOf(definition["properties"])
	parameters := nested.section("parameters")
	if l.spent(l.b.Steps(int64(len(given)+len(parameters))), at) {
		return
	}
	keys = append(slices.Clone(keys[:len(keys)-1]), "properties")
	for _, p := range sorted(given) {
		if _, ok := parameters[p]; !ok {
			l.refuse(t.place(append(keys, p)...), "the nested template %s has no parameter %q", nested.file, p)
		}
	}
	for _, p := range sorted(parameters) {
		_, hasDefault := mapOf(parameters[p])["default"]
		if _, ok := given[p]; !ok && !hasDefault {
			l.refuse(at, "the parameter %q of the nested template %s has no default and is not given", p, nested.file)
		}
	}
}

// find returns the file that a name means: beside the nested templates, else beside
// the top-level one; empty when there is none in BaseHOT.
func (l *loader) find(name string) string {
	for _, dir := range []string{path.Join(l.dir, nestedDirectory), l.dir} {
		file := path.Join(dir, name)
		if !strings.HasPrefix(file, directory+"/") || path.IsAbs(name) {
			continue
		}
		if info, err := fs.Stat(l.p.Content, file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// file takes a file that get_file names.
func (l *loader) file(at vnfm.Place, name string) {
	if _, seen := l.files[name]; seen {
		return
	}
	file := l.find(name)
	if file == "" && l.spent(l.b.Steps(costOf(name)), at) {
		return
	}
	if file == "" {
		*l.ps = append(*l.ps, vnfm.Problem{
			File: at.File, Line: at.Line, Column: at.Column,
			Summary: fmt.Sprintf("get_file names %q, which is not a file in %s", name, l.dir),
			Detail:  "Files of templates are those in the directory " + directory + " of the package, and are named from " + l.dir + " on.",
		})
		return
	}
	data, err := l.b.ReadFile(l.p.Content, file)
	if err == nil {
		err = l.b.Bytes(int64(len(data)))
	}
	if l.spent(err, vnfm.Place{File: file}) {
		return
	}
	if err != nil {
		//findings:says the archive may be damaged: obtain or pack it again
		errorAt(l.ps, at, "%s cannot be read: %v", file, err)
		return
	}
	l.files[name] = string(data)
}

// problemCost is how many steps a problem takes besides one for each byte of it.
const problemCost = 100

// refuse adds a problem, as far as the budget goes: aliases can multiply one mistake.
func (l *loader) refuse(at vnfm.Place, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !l.spent(l.b.Steps(problemCost+int64(len(text))), at) {
		errorAt(l.ps, at, "%s", text)
	}
}

// spent tells whether an error is that of the budget, and reports it once.
func (l *loader) spent(err error, at vnfm.Place) bool {
	if err == nil || l.b.Err() == nil {
		return false
	}
	if !l.budgetReported {
		l.budgetReported = true
		//findings:says make the templates of the flavour and their files smaller
		errorAt(l.ps, at, "the file has %v", err)
	}
	return true
}

// costOf is how many steps the argument of a function takes: one, and one for each byte of
// the texts in it, since it is compared and shown.
func costOf(arg any) int64 {
	cost := int64(1)
	if list, ok := arg.([]any); ok {
		for _, each := range list {
			cost += 1 + int64(len(textOf(each)))
		}
	}
	return cost + int64(len(textOf(arg)))
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
