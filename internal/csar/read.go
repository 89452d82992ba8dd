package csar

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const metaFile = "TOSCA-Metadata/TOSCA.meta"

// Read checks the structure, the integrity and the authenticity of a package. The package
// is never nil; with an error among the problems it holds what could be read. The
// signature around an archive (option 2) is the business of Open.
func Read(a Archive, o Options) (*Package, vnfm.Problems) {
	r := newReader(a, o)
	r.read()
	return r.p, r.ps
}

type reader struct {
	a     Archive
	o     Options
	p     *Package
	ps    vnfm.Problems
	meta  *Meta
	files map[string]FileInfo
	// outer is true inside an archive that a signature of option 2 covers as a whole.
	outer bool
	// sources is what manifest and TOSCA.meta list.
	sources []Source
	// damaged is true after a wrong digest or a missing file.
	damaged bool
	// folded and bases find files by their lower-case path and name; filled when they are first asked for.
	folded, bases map[string]string
	// contents are the signed files that were read, certs the files of certificates.
	contents map[string]*content
	certs    map[string][]*x509.Certificate
}

func newReader(a Archive, o Options) *reader {
	r := &reader{
		a: a, o: o.withBudget(), files: map[string]FileInfo{}, contents: map[string]*content{}, certs: map[string][]*x509.Certificate{},
		p: &Package{Digest: ContentDigest(a), Meta: map[string]string{}, NonMANO: map[string][]string{}},
	}
	for _, f := range a.Files() {
		r.files[f.Path] = f
	}
	return r
}

// mostProblems is how many problems of a package are listed.
const mostProblems = 250

func (r *reader) read() {
	defer func() { r.ps = r.ps.Capped(mostProblems) }()
	if len(r.files) == 0 {
		r.ps = append(r.ps, vnfm.Problem{Rule: ruleArchive, Summary: "the package is empty", Detail: "a package holds at least a VNFD"})
		return
	}
	if _, ok := r.files[metaFile]; ok {
		r.ps.During(ruleMeta, r.readMeta)
	} else {
		r.ps.During(ruleRoot, r.readRoot)
	}
	r.ps.During(ruleManifest, r.readManifest)
	r.ps.During(ruleManifest, r.collectSources)
	r.ps.During(ruleIntegrity, r.checkIntegrity)
	r.ps.During(ruleSignature, r.checkAuthenticity)
}

// readable is the archive without what protects it.
func (r *reader) readable() Archive { return without(r.a, r.protection()) }

// place is where a finding stands; line and column may be 0.
type place struct {
	file         string
	line, column int
}

func (r *reader) add(s vnfm.Severity, at place, summary, detail string) {
	r.ps = append(r.ps, vnfm.Problem{Severity: s, File: at.file, Line: at.line, Column: at.column, Summary: budget.Clip(summary), Detail: budget.Clip(detail)})
}

// text reads a file that is about to be parsed.
func (r *reader) text(name string) ([]byte, bool) { return r.textUpTo(name, maxTextBytes) }

// textUpTo is text for files that are smaller by their nature.
func (r *reader) textUpTo(name string, most int64) ([]byte, bool) {
	if r.files[name].Size > most {
		r.add(vnfm.SeverityError, place{file: name}, fmt.Sprintf("the file has %d bytes, more than the %d that are read", r.files[name].Size, most), "make it smaller")
		return nil, false
	}
	if err := r.o.Budget.Bytes(r.files[name].Size); err != nil {
		r.add(vnfm.SeverityError, place{file: name}, "with this file the package has "+err.Error(), "make the files that the VNFD refers to fewer or smaller")
		return nil, false
	}
	data, err := r.a.ReadFile(name)
	if err != nil {
		r.add(vnfm.SeverityError, place{file: name}, "the file cannot be read", err.Error()+"; "+packAgain)
		return nil, false
	}
	return data, true
}

// lines is text for files of "key: value" lines, each of which counts as a value.
func (r *reader) lines(name string) ([]byte, bool) {
	data, ok := r.text(name)
	if !ok {
		return nil, false
	}
	if err := r.o.Budget.Values(1 + int64(bytes.Count(data, []byte("\n")))); err != nil {
		r.add(vnfm.SeverityError, place{file: name}, "with this file the package has "+err.Error(), "make the files that the VNFD refers to fewer or smaller")
		return nil, false
	}
	return data, true
}

// metaAt is the place of the value of a key of TOSCA.meta.
func (r *reader) metaAt(key string) place {
	at := r.meta.positions[key]
	return place{file: metaFile, line: at.line, column: at.column}
}

// readMeta handles a package with TOSCA-Metadata.
func (r *reader) readMeta() {
	data, ok := r.lines(metaFile)
	if !ok {
		return
	}
	meta, problems := parseMeta(metaFile, data, r.damage())
	r.ps = append(r.ps, problems...)
	r.meta, r.p.Meta = meta, meta.Keys
	r.p.Entry = r.metaPath(keyEntryDefinitions, vnfm.SeverityError, false)
	if r.p.Entry != "" && !isYAML(r.p.Entry) {
		r.add(vnfm.SeverityError, r.metaAt(keyEntryDefinitions), fmt.Sprintf("%s %q is not a YAML file", keyEntryDefinitions, r.p.Entry), "its name must end with .yaml or .yml")
		r.p.Entry = ""
	}
	definitions := splitNames(meta.Keys[keyOtherDefinitions])
	if len(definitions) > maxSources {
		r.add(vnfm.SeverityError, r.metaAt(keyOtherDefinitions), keyOtherDefinitions+" names "+tooManySources.Error(), fewerFiles)
		definitions = nil
	}
	for _, name := range definitions {
		if name = r.existing(keyOtherDefinitions, name, vnfm.SeverityError, false); name != "" {
			r.p.OtherDefinitions = append(r.p.OtherDefinitions, name)
		}
	}
	r.p.ManifestFile = r.metaPath(keyManifest, vnfm.SeverityError, false)
	r.p.ChangeLog = r.metaPath(keyChangeLog, vnfm.SeverityWarning, false)
	r.p.Tests = r.metaPath(keyTests, vnfm.SeverityWarning, true)
	r.p.Licenses = r.metaPath(keyLicenses, vnfm.SeverityWarning, true)
	severity := vnfm.SeverityError
	if r.o.signature() == SignatureIgnore {
		severity = vnfm.SeverityWarning
	}
	r.p.Certificate = r.metaPath(keyCertificate, severity, false)
	if base := baseName(r.p.Entry); base != "" && meta.Keys[keyManifest] == "" {
		r.p.ManifestFile = r.ifExists(base + ".mf")
	}
	switch {
	case r.p.ManifestFile == "":
	case r.p.ManifestFile == metaFile:
		r.add(vnfm.SeverityError, r.metaAt(keyManifest), fmt.Sprintf("%q is named as the manifest", metaFile), "one file cannot be both")
		r.p.ManifestFile = ""
	case r.p.ManifestFile == r.p.Entry || slices.Contains(r.p.OtherDefinitions, r.p.ManifestFile):
		r.add(vnfm.SeverityError, r.metaAt(keyManifest), fmt.Sprintf("%q is named as the manifest and as definitions", r.p.ManifestFile), "one file cannot be both")
		r.p.ManifestFile = ""
	}
	if base := baseName(r.p.ManifestFile); base != "" {
		if want := baseName(r.p.Entry); want != "" && want != base {
			r.add(vnfm.SeverityWarning, r.metaAt(keyManifest), fmt.Sprintf("the manifest %q is not named after %q", r.p.ManifestFile, r.p.Entry), "SOL 004 requires "+want+".mf")
		}
		if r.p.Certificate == "" && meta.Keys[keyCertificate] == "" {
			r.p.Certificate = r.ifExists(base + ".cert")
		}
	}
}

// metaPath returns the path that a key names, "" when the key is absent or wrong.
func (r *reader) metaPath(key string, s vnfm.Severity, dir bool) string {
	if value := r.meta.Keys[key]; value != "" {
		return r.existing(key, value, s, dir)
	}
	return ""
}

// existing checks that a path given under a key of TOSCA.meta is there.
func (r *reader) existing(key, value string, s vnfm.Severity, dir bool) string {
	name, err := cleanName(value)
	if err != nil {
		//findings:says write it from the root of the package, with slashes
		r.add(vnfm.SeverityError, r.metaAt(key), fmt.Sprintf("%s %q is not a path in the package", key, value), err.Error())
		return ""
	}
	if _, ok := r.files[name]; ok {
		return name
	}
	if r.isDir(name) {
		if dir {
			return name
		}
		r.add(s, r.metaAt(key), fmt.Sprintf("%s %q is a directory", key, name), "it must be a file")
		return ""
	}
	//findings:says add the file, or correct the path
	r.add(s, r.metaAt(key), fmt.Sprintf("%s %q is not in the package", key, name), r.similar(name))
	return ""
}

func (r *reader) isDir(name string) bool {
	st, err := fs.Stat(r.a, name)
	return err == nil && st.IsDir()
}

// similar names a file that was probably meant.
func (r *reader) similar(name string) string {
	if r.folded == nil {
		r.folded, r.bases = map[string]string{}, map[string]string{}
		for _, f := range r.a.Files() {
			r.folded[strings.ToLower(f.Path)] = f.Path
			if base := strings.ToLower(path.Base(f.Path)); r.bases[base] == "" {
				r.bases[base] = f.Path
			}
		}
	}
	if other := r.folded[strings.ToLower(name)]; other != "" {
		return fmt.Sprintf("there is %q; names differ in case", other)
	}
	if other := r.bases[strings.ToLower(path.Base(name))]; other != "" {
		return fmt.Sprintf("there is %q; paths begin at the root of the package", other)
	}
	return "add the file, or correct the path"
}

func (r *reader) ifExists(name string) string {
	if _, ok := r.files[name]; ok {
		return name
	}
	return ""
}

// readRoot handles a package without TOSCA-Metadata: the VNFD is the one YAML file at the root.
func (r *reader) readRoot() {
	var yamls, manifests []string
	for _, f := range r.a.Files() {
		switch {
		case strings.Contains(f.Path, "/"):
		case isYAML(f.Path):
			yamls = append(yamls, f.Path)
		case strings.EqualFold(path.Ext(f.Path), ".mf"):
			manifests = append(manifests, f.Path)
		}
	}
	r.p.ChangeLog = r.ifExists("ChangeLog.txt")
	if r.isDir("Tests") {
		r.p.Tests = "Tests"
	}
	if r.isDir("Licenses") {
		r.p.Licenses = "Licenses"
	}
	entry := r.rootEntry(yamls)
	if entry == "" {
		r.noEntry(yamls, manifests)
		return
	}
	r.p.Entry = entry
	if foreign := r.checkRootTemplate(); foreign {
		return
	}
	base := baseName(r.p.Entry)
	r.p.Certificate = r.ifExists(base + ".cert")
	r.p.ManifestFile = r.ifExists(base + ".mf")
	if r.p.ManifestFile != "" {
		return
	}
	if len(manifests) > 0 {
		r.addDamage(place{file: manifests[0]}, fmt.Sprintf("the manifest must be named %s.mf", base),
			fmt.Sprintf("in a package without TOSCA-Metadata it is named after %s", r.p.Entry))
		if len(manifests) == 1 && r.damage().severity != vnfm.SeverityError {
			r.p.ManifestFile = manifests[0]
		}
		return
	}
	r.addDamage(place{}, fmt.Sprintf("the package has no manifest %s.mf", base), "a package without TOSCA-Metadata needs one beside its YAML file")
}

// addDamage reports what is missing of the protection of a package.
func (r *reader) addDamage(at place, summary, detail string) {
	d := r.damage()
	d.report(damageKind{}, []damaged{{at: at, summary: summary, detail: detail}}, r.add)
}

// rootEntry is where the VNFD of a package without TOSCA-Metadata begins: the one YAML file at its root. Where integrity is not enforced
// it may lie beside others, which have no topology_template: type definitions and manifests.
func (r *reader) rootEntry(yamls []string) string {
	if len(yamls) == 1 {
		if r.holdsObjects(yamls[0]) {
			return ""
		}
		return yamls[0]
	}
	if r.damage().severity == vnfm.SeverityError {
		return ""
	}
	var templates []string
	for _, name := range yamls {
		if r.isServiceTemplate(name) {
			templates = append(templates, name)
		}
	}
	if len(templates) != 1 {
		return ""
	}
	r.addDamage(place{file: templates[0]}, fmt.Sprintf("the package has %d YAML files at its root: %s", len(yamls), someOf(yamls)),
		"the VNFD is read from this one, the only service template with a topology_template; "+rootRule)
	return templates[0]
}

// rootRule says where a VNFD is.
const rootRule = "a package has TOSCA-Metadata/TOSCA.meta, or exactly one YAML file at its root"

// noEntry says why a package without TOSCA-Metadata has no VNFD, with the likely mistake.
func (r *reader) noEntry(yamls, manifests []string) {
	for _, f := range r.a.Files() {
		if strings.EqualFold(f.Path, metaFile) {
			r.add(vnfm.SeverityError, place{file: f.Path}, "the file must be named "+metaFile, "names differ in case")
			return
		}
		if prefix, ok := strings.CutSuffix(f.Path, "/"+metaFile); ok {
			r.add(vnfm.SeverityError, place{file: f.Path}, "the package lies in a folder of its archive", fmt.Sprintf("pack the content of %q, not the folder itself", prefix))
			return
		}
	}
	if folder := r.onlyFolder(); folder != "" {
		r.add(vnfm.SeverityError, place{}, fmt.Sprintf("all files of the package lie in its folder %q", folder), "if that folder is the package, pack its content, not the folder itself")
		return
	}
	if templates := r.templatesInFolders(); len(templates) > 0 {
		r.withoutMeta(templates, manifests)
		return
	}
	if name := r.manifestAlone(yamls); name != "" {
		r.add(vnfm.SeverityError, place{file: name}, "the package has Kubernetes manifests and no VNFD",
			"write a VNFD and a manifest with digests beside them, as the guide \"Writing packages\" shows; "+rootRule)
		return
	}
	if len(yamls) == 0 {
		r.add(vnfm.SeverityError, place{}, "the package has no VNFD", rootRule)
		return
	}
	r.add(vnfm.SeverityError, place{}, fmt.Sprintf("the package has %d YAML files at its root: %s", len(yamls), someOf(yamls)), rootRule)
}

// templatesInFolders are the files in folders that begin a VNFD as far as they tell by themselves.
func (r *reader) templatesInFolders() []string {
	var out []string
	for _, f := range r.a.Files() {
		if strings.Contains(f.Path, "/") && isYAML(f.Path) && r.isServiceTemplate(f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}

// withoutMeta says what to write into the TOSCA.meta that a package with a VNFD in a folder lacks.
func (r *reader) withoutMeta(templates, manifests []string) {
	looks, entry := "looks like the VNFD", fmt.Sprintf("%q", "Entry-Definitions: "+templates[0])
	if len(templates) > 1 {
		looks, entry = "look like the VNFD", `"Entry-Definitions: " with the one that imports the others`
	}
	manifest := baseName(templates[0]) + ".mf"
	if len(manifests) == 1 {
		manifest = manifests[0]
	}
	r.add(vnfm.SeverityError, place{}, metaFile+" is missing",
		fmt.Sprintf("%s %s; write into %s the lines %q, %q, %q, %s and %q, as the guide \"Writing packages\" shows", someOf(templates), looks, metaFile,
			"TOSCA-Meta-File-Version: 1.1", "CSAR-Version: 1.1", "Created-By: your name", entry, "ETSI-Entry-Manifest: "+manifest))
}

// onlyFolder is the folder that all files are in; empty when there is none.
func (r *reader) onlyFolder() string {
	files := r.a.Files()
	folder, _, ok := strings.Cut(files[0].Path, "/")
	if !ok || slices.ContainsFunc(files, func(f FileInfo) bool { return !strings.HasPrefix(f.Path, folder+"/") }) {
		return ""
	}
	return folder
}

// manifestAlone is the first file with Kubernetes objects of a package that has nothing else which could be a VNFD; empty when there is none.
func (r *reader) manifestAlone(yamls []string) string {
	if slices.ContainsFunc(yamls, func(name string) bool { return !r.holdsObjects(name) }) {
		return ""
	}
	for _, f := range r.a.Files() {
		if isYAML(f.Path) && r.holdsObjects(f.Path) {
			return f.Path
		}
	}
	return ""
}

// holdsObjects reports whether a file has Kubernetes objects.
func (r *reader) holdsObjects(name string) bool {
	return r.files[name].Size <= maxTextBytes && holdsObjects(r.o.Budget, r.a, name, new(vnfm.Problems))
}

// readManifest parses the manifest, if there is one.
func (r *reader) readManifest() {
	if r.p.ManifestFile == "" {
		if r.meta != nil && r.meta.Keys[keyManifest] == "" && r.p.Entry != "" {
			r.add(vnfm.SeverityWarning, place{file: metaFile, line: 1}, "the package has no manifest", "SOL 004 requires "+keyManifest+"; the files listed in TOSCA.meta are taken instead")
		}
		return
	}
	data, ok := r.lines(r.p.ManifestFile)
	if !ok {
		return
	}
	m, problems := parseManifest(r.p.ManifestFile, data, r.damage())
	r.ps = append(r.ps, problems...)
	r.p.Manifest = m
	if what := m.foreign(); what != "" {
		r.add(vnfm.SeverityError, place{file: r.p.ManifestFile}, "the package describes "+what, "a VNF manager takes VNF packages; their metadata begin with vnf_")
	}
}

// collectSources gathers what manifest and TOSCA.meta list.
func (r *reader) collectSources() {
	if r.p.Manifest != nil {
		r.sources = slices.Concat(r.p.Manifest.Sources, r.p.Manifest.NonMANO)
		for _, s := range r.p.Manifest.NonMANO {
			if s.Path != "" {
				r.p.NonMANO[s.Set] = append(r.p.NonMANO[s.Set], s.Path)
			}
		}
	}
	if r.meta != nil {
		r.sources = append(r.sources, r.meta.Files...)
	}
	r.sources = slices.DeleteFunc(r.sources, func(s Source) bool { return s.Path == "" })
}

func isYAML(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}

// baseName is the name of a file without directory and extension.
func baseName(name string) string {
	if name == "" {
		return ""
	}
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// splitNames cuts a list of names, quoted ones included, at commas and spaces.
func splitNames(value string) []string {
	quote := rune(0)
	cut := func(c rune) bool {
		switch {
		case quote != 0 && c == quote:
			quote = 0
			return true
		case quote != 0:
			return false
		case c == '"' || c == '\'':
			quote = c
			return true
		}
		return c == ',' || c == ' ' || c == '\t'
	}
	return strings.FieldsFunc(value, cut)
}
