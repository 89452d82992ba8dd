package csar

import (
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Canonical names of the keys in the first block of TOSCA.meta, SOL 004 clause 4.1.2.2.
// Version 2.5.1 wrote the Entry keys without ETSI-; those are read as the same.
const (
	keyMetaFileVersion  = "TOSCA-Meta-File-Version"
	keyCSARVersion      = "CSAR-Version"
	keyCreatedBy        = "Created-By"
	keyEntryDefinitions = "Entry-Definitions"
	keyOtherDefinitions = "Other-Definitions"
	keyManifest         = "ETSI-Entry-Manifest"
	keyChangeLog        = "ETSI-Entry-Change-Log"
	keyTests            = "ETSI-Entry-Tests"
	keyLicenses         = "ETSI-Entry-Licenses"
	keyCertificate      = "ETSI-Entry-Certificate"
)

// metaKeys maps lower-case keys to canonical ones.
var metaKeys = func() map[string]string {
	keys := map[string]string{"tosca-meta-version": keyMetaFileVersion}
	for _, key := range []string{
		keyMetaFileVersion, keyCSARVersion, keyCreatedBy, keyEntryDefinitions, keyOtherDefinitions,
		keyManifest, keyChangeLog, keyTests, keyLicenses, keyCertificate,
	} {
		keys[strings.ToLower(key)] = key
		keys[strings.ToLower(strings.TrimPrefix(key, "ETSI-"))] = key
	}
	return keys
}()

// Meta is the content of TOSCA-Metadata/TOSCA.meta.
type Meta struct {
	// File is the path of the file in its package.
	File string
	// Keys holds the first block by canonical key; unknown keys are kept as written.
	Keys map[string]string
	// Files are the later blocks, which begin with Name, in the order of the file.
	Files []Source

	positions map[string]position
}

type position struct{ line, column int }

// parseMeta reads TOSCA.meta: a block of keys about the package, then, divided by
// blank lines, a block for each file that begins with Name. Keys are compared without case.
// File is the name used in the problems, damage what is made of a digest that cannot be right. The result is never nil;
// with an error among the problems it holds what could be read.
func parseMeta(file string, data []byte, damage damagePolicy) (*Meta, vnfm.Problems) {
	p := &metaParser{damage: damage, findings: findings{file: file}, m: &Meta{File: file, Keys: map[string]string{}, positions: map[string]position{}}}
	if ps := checkText(file, data); ps != nil {
		return p.m, ps
	}
	for _, l := range splitLines(data) {
		p.line(l)
	}
	p.finish()
	return p.m, p.problems()
}

type metaParser struct {
	findings
	damage  damagePolicy
	m       *Meta
	current *Source
	// lastKey is the key whose value the next line can continue, rest the lines that did.
	lastKey string
	rest    []string
	full    bool
}

func (p *metaParser) line(l line) {
	if p.full || isComment(l.text) {
		return
	}
	f, ok := parseField(l)
	if f.indented && p.lastKey != "" && (!ok || f.listItem) {
		// A continued value, as TOSCA 1.x inherits it from the JAR manifest.
		p.rest = append(p.rest, strings.TrimSpace(l.text))
		return
	}
	if !ok || f.listItem {
		//findings:says write it so, or begin it with a space if it continues the value above
		p.err(l.number, f.keyCol, fmt.Sprintf("line is not \"key: value\" but %q", shorten(strings.TrimSpace(l.text))), "")
		return
	}
	key := strings.ToLower(f.key)
	switch {
	case key == "name":
		p.endKey()
		if len(p.m.Files) == maxSources {
			p.err(f.line, f.keyCol, "the file lists "+tooManySources.Error(), fewerFiles)
			p.full = true
			return
		}
		p.m.Files = append(doubled(p.m.Files), Source{File: p.file, Line: f.line, Column: f.valueCol})
		p.current = &p.m.Files[len(p.m.Files)-1]
		p.current.setPath(&p.findings, f)
	case metaKeys[key] != "":
		p.key(metaKeys[key], f)
	case p.current == nil && key == "content-type":
		p.warn(f.line, f.keyCol, f.key+" without a Name", "it is ignored; it belongs below the \"Name:\" line of its file")
	case p.current == nil && (key == "algorithm" || key == "hash"):
		p.err(f.line, f.keyCol, fmt.Sprintf("%s without a Name", f.key), "it belongs below the \"Name:\" line of its file")
	case p.current != nil && (key == "algorithm" || key == "hash" || key == "content-type"):
		p.current.set(&p.findings, "Name", key, f)
	case p.current != nil:
		// TOSCA allows further keys in the block of a file.
	default:
		p.key(f.key, f)
	}
}

func (p *metaParser) key(key string, f field) {
	if p.current != nil {
		p.warn(f.line, f.keyCol, fmt.Sprintf("%s stands in the block of a file", f.key), "move it to the first block")
	}
	p.endKey()
	if at, ok := p.m.positions[key]; ok {
		if p.m.Keys[key] == f.value {
			p.warn(f.line, f.keyCol, fmt.Sprintf("%s is given twice", key), fmt.Sprintf("first on line %d", at.line))
		} else {
			p.err(f.line, f.keyCol, fmt.Sprintf("%s is given twice with different values", key), fmt.Sprintf("first on line %d", at.line))
		}
		return
	}
	p.m.Keys[key] = f.value
	p.m.positions[key] = position{f.line, f.valueCol}
	if p.current == nil {
		p.lastKey = key
	}
}

// endKey joins the lines of the last value, which no further line can continue.
func (p *metaParser) endKey() {
	if len(p.rest) > 0 {
		p.m.Keys[p.lastKey] = strings.TrimSpace(p.m.Keys[p.lastKey] + " " + strings.Join(p.rest, " "))
	}
	p.lastKey, p.rest = "", nil
}

func (p *metaParser) finish() {
	p.endKey()
	p.version(keyMetaFileVersion, "1.0", "1.1")
	p.version(keyCSARVersion, "1.0", "1.1")
	if p.m.Keys[keyCreatedBy] == "" {
		p.warn(1, 0, keyCreatedBy+" is missing", "TOSCA requires the name of the tool or person that made the package")
	}
	if p.m.Keys[keyEntryDefinitions] == "" {
		p.err(max(1, p.m.positions[keyEntryDefinitions].line), p.m.positions[keyEntryDefinitions].column, keyEntryDefinitions+" is missing", "it names the file where the VNFD begins, for example Definitions/vnfd.yaml")
	}
	p.checkSources(p.damage, p.m.Files)
}

// version demands a key with one of the values.
func (p *metaParser) version(key string, values ...string) {
	have, at := p.m.Keys[key], p.m.positions[key]
	if have == "" {
		p.err(max(1, at.line), at.column, key+" is missing", "write \""+key+": "+values[len(values)-1]+"\"")
		return
	}
	for _, v := range values {
		if have == v {
			return
		}
	}
	p.err(at.line, at.column, fmt.Sprintf("%s %q is not supported", key, have), "known are "+strings.Join(values, " and "))
}
