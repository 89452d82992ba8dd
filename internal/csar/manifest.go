package csar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Keys of the metadata of a VNF package's manifest, SOL 004 clause 4.3.2. The last four
// exist since version 3.
const (
	metadataProvider        = "vnf_provider_id"
	metadataProduct         = "vnf_product_name"
	metadataReleaseDateTime = "vnf_release_date_time"
	metadataPackageVersion  = "vnf_package_version"
	metadataVNFDID          = "vnfd_id"
	metadataSoftwareVersion = "vnf_software_version"
	metadataVNFMInfo        = "vnfm_info"
	metadataSpecVersions    = "compatible_specification_versions"
)

var (
	metadataBase = []string{metadataProvider, metadataProduct, metadataReleaseDateTime, metadataPackageVersion}
	metadataV3   = []string{metadataVNFDID, metadataSoftwareVersion, metadataVNFMInfo, metadataSpecVersions}
	metadataPNF  = []string{"pnfd_provider", "pnfd_name", "pnfd_release_date_time", "pnfd_archive_version"}
	// metadataSpelling holds misspellings found in packages of vendors.
	metadataSpelling = map[string]string{"vnf_release_data_time": metadataReleaseDateTime}
)

// Manifest is the content of a manifest file (.mf).
type Manifest struct {
	// File is the path of the manifest in its package.
	File string
	// Metadata holds the metadata by lower-case key.
	Metadata map[string]string
	// lines are those of the metadata.
	lines map[string]int
	// Sources are the Source blocks in the order of the file.
	Sources []Source
	// NonMANO are the Sources of the non-MANO artifact sets, in the order of the file.
	NonMANO []Source
	// Sets are the identifiers of the non-MANO artifact sets, in the order of the file.
	Sets []string
	// CMS is the PEM block of the signature, nil when the manifest is not signed.
	CMS []byte
	// CMSLine is the line where the block begins.
	CMSLine int
	// Signed are the bytes that the signature covers: all before the block, with
	// their line ends as they are.
	Signed []byte
}

// aPNF is what the metadata of a PNF package describe.
const aPNF = "a PNF"

// foreign returns what the metadata describes if it is not a VNF, and an empty text for a VNF.
func (m *Manifest) foreign() string {
	for key, value := range m.Metadata {
		switch {
		case strings.HasPrefix(key, "pnfd_"):
			return aPNF
		case strings.HasPrefix(key, "nsd_"):
			return "a network service"
		case key == "entry_definition_type" && strings.EqualFold(value, "asd"):
			return "an application (ASD, the application service descriptor of O-RAN and ONAP)"
		}
	}
	return ""
}

// foreignKey tells whether a key is of the metadata of something else than a VNF or PNF.
func foreignKey(key string) bool {
	return strings.HasPrefix(key, "nsd_") || strings.HasPrefix(key, "application_") || key == "entry_definition_type"
}

// Source is one block of a manifest or one named block of TOSCA.meta.
type Source struct {
	// Path is relative to the root of the package, clean, or an http(s) URL.
	Path string
	// Algorithm is the canonical name, as SHA-256; Hash is lower-case hexadecimal.
	// Both are empty for a file that is listed without digest.
	Algorithm, Hash string
	// Signature and Certificate are the paths of the files that sign this one alone.
	Signature, Certificate string
	ContentType            string
	// External is true for a URL. It is listed, never fetched.
	External bool
	// Set is the identifier of the non-MANO artifact set, empty for a Source outside of them.
	Set string
	// File, Line and Column tell where the path stands.
	File         string
	Line, Column int

	algorithmLine, algorithmCol int
	hashLine, hashCol           int
	signatureLine, signatureCol int
	certLine, certCol           int
	// declared is the Algorithm even where the Hash is unusable.
	declared string
	// given are the keys seen in this block.
	given sourceKeys
}

// ParseManifest reads a manifest file, SOL 004 clause 4.3. Keys are compared without case, metadata
// need no indentation, blank lines and comments may stand anywhere and lines may
// end with CRLF. File is the name used in the problems. The manifest is never nil; with an error among the
// problems it holds what could be read.
func ParseManifest(file string, data []byte) (*Manifest, vnfm.Problems) {
	return parseManifest(file, data, damagePolicy{})
}

// parseManifest is ParseManifest with what is made of a digest that cannot be right.
func parseManifest(file string, data []byte, damage damagePolicy) (*Manifest, vnfm.Problems) {
	p := &manifestParser{
		damage: damage, findings: findings{file: file}, metaLines: map[string]int{}, sets: map[string]bool{},
		m: &Manifest{File: file, Metadata: map[string]string{}, Signed: data},
	}
	p.m.lines = p.metaLines
	if ps := checkText(file, data); ps != nil {
		return p.m, ps
	}
	for _, l := range splitLines(data) {
		p.line(l, data)
	}
	p.finish()
	return p.m, p.problems()
}

type manifestSection int

const (
	sectionNone manifestSection = iota
	sectionMetadata
	sectionSources
	sectionNonMANO
	sectionCMS
	sectionEnd
	sectionIgnored
)

type manifestParser struct {
	findings
	damage    damagePolicy
	m         *Manifest
	section   manifestSection
	metaLines map[string]int
	lastKey   string
	// current is the block that Algorithm, Hash, Signature and Certificate belong to.
	current *Source
	set     string
	// sets are the identifiers seen.
	sets    map[string]bool
	setAt   position
	setUsed bool
	cms     []string
	// items are those of the values that are lists, joined at the end.
	items map[string][]string
}

const (
	beginMarker = "-----BEGIN "
	endMarker   = "-----END "
)

func (p *manifestParser) line(l line, data []byte) {
	trimmed := strings.TrimSpace(l.text)
	switch {
	case p.section == sectionIgnored:
		return
	case p.section == sectionCMS:
		p.cmsLine(l, trimmed)
		return
	case strings.HasPrefix(trimmed, beginMarker):
		p.beginCMS(l, trimmed, data)
		return
	case strings.HasPrefix(trimmed, endMarker):
		p.err(l.number, 1, "end of a signature without its beginning", "the line before the signature must be \"-----BEGIN CMS-----\"")
		return
	case isComment(l.text):
		return
	case p.section == sectionEnd:
		p.err(l.number, 1, "text after the signature", "the signature is the last part of a manifest; nothing after it is signed")
		p.section = sectionIgnored
		return
	}
	f, ok := parseField(l)
	if !ok {
		//findings:says write it so, or remove it
		p.err(l.number, f.keyCol, fmt.Sprintf("line is not \"key: value\" but %q", shorten(trimmed)), "")
		return
	}
	p.field(f)
}

func (p *manifestParser) field(f field) {
	if f.listItem {
		p.listItem(f)
		return
	}
	switch key := strings.ToLower(f.key); key {
	case "metadata":
		p.beginMetadata(f)
	case "source":
		p.beginSource(f)
	case "algorithm", "hash", "signature", "certificate", "content-type":
		p.sourceField(key, f)
	case nonMANOSets:
		if f.value != "" {
			p.err(f.line, f.valueCol, "non_mano_artifact_sets takes no value", "write each set identifier with a colon on its own line below it")
		}
		p.endSet()
		p.section, p.current = sectionNonMANO, nil
	default:
		p.otherField(key, f)
	}
}

func (p *manifestParser) beginMetadata(f field) {
	switch {
	case f.value != "":
		p.err(f.line, f.valueCol, "metadata takes no value", "write the metadata as \"key: value\" lines below it")
	case len(p.m.Metadata) > 0 || p.section == sectionMetadata:
		p.err(f.line, f.keyCol, "metadata is given twice", "a manifest has one metadata section")
	case p.section != sectionNone:
		p.warn(f.line, f.keyCol, "metadata stands after the first Source", "SOL 004 requires it at the beginning")
	}
	p.section, p.current = sectionMetadata, nil
}

func (p *manifestParser) otherField(key string, f field) {
	known := slices.Contains(metadataBase, key) || slices.Contains(metadataV3, key) || slices.Contains(metadataPNF, key) || metadataSpelling[key] != ""
	switch {
	case p.section == sectionNonMANO && !known:
		p.beginSet(f)
	case p.section == sectionMetadata:
		p.metadata(key, f, known)
	case known:
		if p.section == sectionNone {
			p.warn(f.line, f.keyCol, fmt.Sprintf("%s stands outside of the metadata", f.key), "write \"metadata:\" on a line before it")
			p.section = sectionMetadata
		} else {
			p.warn(f.line, f.keyCol, fmt.Sprintf("%s stands outside of the metadata", f.key), "move it to the metadata at the beginning")
		}
		p.metadata(key, f, known)
	default:
		p.warn(f.line, f.keyCol, fmt.Sprintf("unknown key %q", f.key), "it is ignored")
	}
}

func (p *manifestParser) metadata(key string, f field, known bool) {
	if right := metadataSpelling[key]; right != "" {
		p.warn(f.line, f.keyCol, fmt.Sprintf("%s is a misspelling", f.key), "read as "+right)
		key = right
	}
	if first := p.metaLines[key]; first > 0 {
		p.err(f.line, f.keyCol, fmt.Sprintf("%s is given twice", key), fmt.Sprintf("first on line %d", first))
		return
	}
	if !known && !foreignKey(key) {
		p.warn(f.line, f.keyCol, fmt.Sprintf("unknown metadata key %q", f.key), "SOL 004 does not have it; it is kept")
	}
	p.metaLines[key] = f.line
	p.m.Metadata[key] = f.value
	p.lastKey = key
}

// listItem reads compatible_specification_versions written as a YAML list.
func (p *manifestParser) listItem(f field) {
	if p.section != sectionMetadata || p.lastKey == "" {
		p.err(f.line, f.keyCol, "list item outside of the metadata", "a manifest is made of \"key: value\" lines")
		return
	}
	if p.items == nil {
		p.items = map[string][]string{}
	}
	p.items[p.lastKey] = append(p.items[p.lastKey], f.value)
}

// joinItems completes the values that are lists.
func (p *manifestParser) joinItems() {
	for key, items := range p.items {
		if have := p.m.Metadata[key]; have != "" {
			items = append([]string{have}, items...)
		}
		p.m.Metadata[key] = strings.Join(items, ",")
	}
}

func (p *manifestParser) beginSet(f field) {
	p.endSet()
	p.current = nil
	p.set, p.setAt, p.setUsed = f.key, position{f.line, f.keyCol}, false
	if f.value != "" {
		p.err(f.line, f.valueCol, fmt.Sprintf("non-MANO artifact set %s takes no value", f.key), "write its files as \"Source: path\" lines below it")
		p.setUsed = true
	}
	if p.sets[f.key] {
		p.err(f.line, f.keyCol, fmt.Sprintf("non-MANO artifact set %s is given twice", f.key), "put its files under one identifier")
		return
	}
	p.sets[f.key] = true
	p.m.Sets = append(p.m.Sets, f.key)
}

func (p *manifestParser) endSet() {
	if p.section == sectionNonMANO && p.set != "" && !p.setUsed {
		//findings:says write its files as "Source: path" lines below it, or remove it
		p.err(p.setAt.line, p.setAt.column, fmt.Sprintf("non-MANO artifact set %s has no Source", p.set), "")
	}
	p.set = ""
}

func (p *manifestParser) beginSource(f field) {
	if len(p.m.Sources)+len(p.m.NonMANO) == maxSources {
		p.err(f.line, f.keyCol, "the manifest lists "+tooManySources.Error(), fewerFiles)
		p.section, p.set, p.current = sectionIgnored, "", nil
		return
	}
	src := Source{File: p.file, Line: f.line, Column: f.valueCol}
	if p.section == sectionNonMANO {
		if p.set == "" {
			p.err(f.line, f.keyCol, "Source in non_mano_artifact_sets without a set identifier", "write the identifier of the set with a colon on the line before it")
		}
		src.Set, p.setUsed = p.set, true
		p.m.NonMANO = append(doubled(p.m.NonMANO), src)
		p.current = &p.m.NonMANO[len(p.m.NonMANO)-1]
	} else {
		p.section = sectionSources
		p.m.Sources = append(doubled(p.m.Sources), src)
		p.current = &p.m.Sources[len(p.m.Sources)-1]
	}
	p.current.setPath(&p.findings, f)
}

func (p *manifestParser) sourceField(key string, f field) {
	if p.current == nil {
		p.err(f.line, f.keyCol, fmt.Sprintf("%s without a Source", f.key), "it belongs below the \"Source:\" line of its file")
		return
	}
	p.current.set(&p.findings, "Source", key, f)
}

func (p *manifestParser) beginCMS(l line, trimmed string, data []byte) {
	at := l.offset + strings.Index(l.text, beginMarker)
	if trimmed != "-----BEGIN CMS-----" && trimmed != "-----BEGIN PKCS7-----" {
		p.err(l.number, 1, fmt.Sprintf("unexpected block %q", shorten(trimmed)), "a manifest is signed by one \"-----BEGIN CMS-----\" block")
		return
	}
	if p.m.CMSLine > 0 {
		p.err(l.number, 1, "second signature", fmt.Sprintf("a manifest has one signature; the first begins on line %d", p.m.CMSLine))
		p.section = sectionIgnored
		return
	}
	p.endSet()
	p.section, p.current = sectionCMS, nil
	p.m.CMSLine = l.number
	p.m.Signed = data[:at]
	p.cms = []string{trimmed}
}

func (p *manifestParser) cmsLine(l line, trimmed string) {
	p.cms = append(p.cms, trimmed)
	if !strings.HasPrefix(trimmed, endMarker) {
		return
	}
	p.section = sectionEnd
	if want := strings.Replace(p.cms[0], beginMarker, endMarker, 1); trimmed != want {
		p.err(l.number, 1, fmt.Sprintf("the signature ends with %q", shorten(trimmed)), fmt.Sprintf("its end must be %q", want))
		return
	}
	p.m.CMS = []byte(strings.Join(p.cms, "\n") + "\n")
}

func (p *manifestParser) finish() {
	p.endSet()
	if p.section == sectionCMS {
		p.err(p.m.CMSLine, 1, "the signature has no end", "its last line must be \"-----END CMS-----\"; the file may be cut off")
	}
	p.joinItems()
	p.checkMetadata()
	p.checkSources(p.damage, p.m.Sources, p.m.NonMANO)
	p.checkTwice(p.m.Sources)
}

func (p *manifestParser) checkMetadata() {
	if len(p.m.Metadata) == 0 {
		p.warn(1, 0, "the manifest has no metadata", "SOL 004 requires "+strings.Join(metadataBase, ", "))
		return
	}
	base := metadataBase
	switch {
	case p.m.foreign() == aPNF:
		base = metadataPNF
	case p.m.foreign() != "":
		return
	}
	var missing []string
	for _, key := range base {
		if p.m.Metadata[key] == "" {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		p.warn(1, 0, "the metadata lack "+strings.Join(missing, ", "), "SOL 004 requires them")
	}
}

// checkTwice finds files that are listed more than once: with one digest it is untidy, with
// two it leaves open which one holds.
func (p *manifestParser) checkTwice(list []Source) {
	first := map[string]int{}
	for i := range list {
		s := &list[i]
		if s.Path == "" {
			continue
		}
		at, ok := first[s.Path]
		f := &list[at]
		switch {
		case !ok:
			first[s.Path] = i
		case f.Hash != "" && s.Hash != "" && f.Algorithm == s.Algorithm && f.Hash != s.Hash:
			p.err(s.Line, s.Column, fmt.Sprintf("%q is listed twice with different digests", s.Path), fmt.Sprintf("first on line %d", f.Line))
		case f.Hash != "" && s.Hash != "" && f.Algorithm != s.Algorithm:
			p.err(s.Line, s.Column, fmt.Sprintf("%q is listed twice, with a %s and a %s digest", s.Path, f.Algorithm, s.Algorithm),
				fmt.Sprintf("first on line %d; leave one of them", f.Line))
		default:
			p.warn(s.Line, s.Column, fmt.Sprintf("%q is listed twice", s.Path), fmt.Sprintf("first on line %d", f.Line))
		}
	}
}

func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
