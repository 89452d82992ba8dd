// Package yamlpos reads YAML whose values keep their places in the file, for all that reports to a person where
// something is wrong. It follows aliases and merge keys, refuses what has no one meaning (a key that is given twice, an
// alias that contains itself), and draws from a budget, so that a small file cannot become a large one unnoticed.
package yamlpos

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Options say how a file is read.
type Options struct {
	// LastKeyWins takes the last of several equal keys of a mapping, as Helm does; otherwise they are an error.
	LastKeyWins bool
	// NoPlaces leaves lines and columns out of problems, for a text that nobody has as a file.
	NoPlaces bool
	// Null returns documents that are null as well, for a file that must be one document.
	Null bool
}

// Document is one document of a file. Its nodes must not be changed.
type Document struct {
	File string
	// Line and Column are where the document begins, which is before Root where it has a mark ("---").
	Line, Column int
	Root         *yaml.Node

	options  Options
	budget   *budget.Budget
	mappings map[*yaml.Node]*mapping
	// spent is set when the budget was and the problem has been reported, faulty when there is a problem in the document, repeats when a
	// mapping has a key twice.
	spent, faulty, repeats bool
}

// Entry is a key of a mapping with its value, which is not an alias.
type Entry struct {
	Key, Value *yaml.Node
}

// Name is the text of the key.
func (e Entry) Name() string { return e.Key.Value }

// mapping is a mapping with its merge keys resolved.
type mapping struct {
	// entries are its own in the order of the file, then those that it merges.
	entries []Entry
	// index finds entries by name. It is nil for a few of them, which are looked through faster.
	index map[string]int
}

// few is how many entries are looked through.
const few = 8

func (m *mapping) find(name string) (int, bool) {
	if m.index != nil {
		i, ok := m.index[name]
		return i, ok
	}
	for i := range m.entries {
		if m.entries[i].Key.Value == name {
			return i, true
		}
	}
	return 0, false
}

// add appends an entry whose name is new.
func (m *mapping) add(e Entry) {
	if m.index == nil && len(m.entries) == few {
		m.index = make(map[string]int, max(2*few, cap(m.entries)))
		for i := range m.entries {
			m.index[m.entries[i].Key.Value] = i
		}
	}
	if m.index != nil {
		m.index[e.Key.Value] = len(m.entries)
	}
	m.entries = append(m.entries, e)
}

const mergeTag = "!!merge"

// mostProblems is how many problems of one file are listed.
const mostProblems = 100

// Parse reads all documents of a file, without those that are null: YAML, whose documents may begin with a byte order mark, or JSON
// values one after the other. Readable documents are returned even if there are errors. Of these that a limit was reached is the last.
func Parse(b *budget.Budget, file string, data []byte, o Options) ([]*Document, vnfm.Problems) {
	p := &parser{file: file, options: o, budget: b}
	p.parse(data)
	slices.SortStableFunc(p.problems, func(a, b vnfm.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if left := p.found - len(p.problems); left > 0 {
		//findings:says correct those above, then check again
		p.problems.Errorf(file, 0, 0, "%d more problems in this file are not listed", left)
	}
	return p.documents, append(p.problems, p.limit...)
}

func (p *parser) parse(data []byte) {
	if err := p.budget.Bytes(int64(len(data))); err != nil {
		p.end(nil, err)
		return
	}
	if err := Fits(data); err != nil {
		p.end(nil, err)
		return
	}
	text := separated(withoutMarks(data))
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			line, summary := vnfm.YAMLError(text, err)
			// An error at the end of the file stands on the line after the last one.
			//findings:says indent with spaces, and put strings with ": " or " #" in quotes
			p.add(min(line, bytes.Count(data, []byte("\n"))+1), 0, "the file is not valid YAML: "+summary)
			return
		}
		if len(node.Content) == 0 || IsNull(node.Content[0]) && !p.options.Null {
			continue
		}
		if !p.document(&node) {
			return
		}
	}
}

// mostValues bounds how many values a text is parsed to, since they are in memory before they can be counted: about 200 bytes
// each. The largest manifests in use (definitions of custom resources) have 200,000.
const mostValues = 750_000

// mostTags bounds the directives %TAG of a text, each of which the parser compares with all before it.
const mostTags = 1000

// Fits returns the limit, a *budget.Error, that keeps a text from being parsed at all.
func Fits(data []byte) error {
	if bytes.Count(data, []byte("\n%TAG")) > mostTags {
		return &budget.Error{Noun: "directives %TAG", Max: mostTags}
	}
	if separators(data) > mostValues {
		return &budget.Error{Noun: "values", Max: mostValues}
	}
	return nil
}

// separators is at least the number of values that a text can have: between two of them is a line end, an indicator
// that white space follows, or an indicator of flow style.
func separators(data []byte) int {
	n, flow := 0, false
	for i, c := range data {
		switch c {
		case '\n', '\r':
			n++
		case '[', '{':
			flow = true
			n++
		case ',':
			if flow {
				n++
			}
		case ':', '-', '?':
			if flow || i+1 == len(data) || isSpace(data[i+1]) {
				n++
			}
		}
	}
	return n
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// parser checks documents and resolves their mappings.
type parser struct {
	file      string
	options   Options
	budget    *budget.Budget
	documents []*Document
	problems  vnfm.Problems
	// found is how many problems there are, limit the one that ended the reading.
	found int
	limit vnfm.Problems

	d *Document
	// open are the nodes that are being resolved: an alias to one of them contains itself.
	open map[*yaml.Node]bool
	done map[*yaml.Node]bool
}

func (p *parser) add(line, column int, text string) {
	if p.options.NoPlaces {
		line, column = 0, 0
	}
	if p.found++; p.found <= mostProblems {
		p.problems.Errorf(p.file, line, column, "%s", budget.Clip(text))
	}
}

// end refuses what goes past a limit.
func (p *parser) end(n *yaml.Node, err error) bool {
	line, column := 0, 0
	if n != nil && !p.options.NoPlaces {
		line, column = n.Line, n.Column
	}
	var limit *budget.Error
	if !errors.As(err, &limit) {
		//findings:says it ran out of time or was cancelled: run it again
		p.limit.Errorf(p.file, line, column, "reading the file was stopped: %v", err)
		return false
	}
	//findings:says split the file, or use fewer aliases and levels of nesting
	p.limit.Errorf(p.file, line, column, "the file has %v", err)
	return false
}

func (p *parser) refuse(n *yaml.Node, text string) bool {
	p.add(n.Line, n.Column, text)
	return false
}

// document takes one document; false ends the reading.
func (p *parser) document(n *yaml.Node) bool {
	root := n.Content[0]
	p.d = &Document{File: p.file, Line: n.Line, Column: n.Column, Root: root, options: p.options, budget: p.budget, mappings: map[*yaml.Node]*mapping{}}
	p.open, p.done = nil, nil
	found := p.found
	ok := p.resolve(root, 0)
	p.d.faulty = !ok || p.found > found
	if ok {
		p.documents = append(p.documents, p.d)
	}
	return ok
}

// resolve checks a node with all below it, each once.
func (p *parser) resolve(n *yaml.Node, depth int) bool {
	if err := p.budget.Values(1); err != nil {
		return p.end(n, err)
	}
	if err := p.budget.Depth(depth); err != nil {
		return p.end(n, err)
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return true
	case yaml.AliasNode:
		if n.Alias == nil || p.open[n.Alias] {
			//findings:says write out the value instead of the alias
			return p.refuse(n, fmt.Sprintf("the alias *%s contains itself", n.Value))
		}
		if p.done[n.Alias] {
			return true
		}
		return p.resolve(n.Alias, depth+1)
	case yaml.MappingNode, yaml.SequenceNode:
	default:
		//findings:says write a string, a number, a list or a mapping
		return p.refuse(n, "is not a YAML value")
	}
	if n.Anchor != "" {
		if p.open == nil {
			p.open, p.done = map[*yaml.Node]bool{}, map[*yaml.Node]bool{}
		}
		p.open[n] = true
	}
	for _, child := range n.Content {
		if !p.resolve(child, depth+1) {
			return false
		}
	}
	if n.Kind == yaml.MappingNode && !p.mapping(n) {
		return false
	}
	if n.Anchor != "" {
		delete(p.open, n)
		p.done[n] = true
	}
	return true
}

// mapping resolves the keys of a mapping. Its own keys come before those that it merges, of which the first mapping
// that has a key gives it (https://yaml.org/type/merge.html).
func (p *parser) mapping(n *yaml.Node) bool {
	m := &mapping{entries: make([]Entry, 0, len(n.Content)/2)}
	p.d.mappings[n] = m
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := Resolve(n.Content[i])
		if key.Kind == yaml.ScalarNode && key.ShortTag() == mergeTag {
			continue
		}
		if key.Kind != yaml.ScalarNode || IsNull(key) {
			p.refuse(n.Content[i], "a key must be a string, not "+Describe(key))
			continue
		}
		e := Entry{Key: key, Value: Resolve(n.Content[i+1])}
		if at, twice := m.find(key.Value); twice {
			p.d.repeats = true
			if !p.options.LastKeyWins {
				//findings:says rename one of the keys, or remove it
				p.refuse(key, fmt.Sprintf("the key %q is given twice, first in line %d", key.Value, m.entries[at].Key.Line))
			}
			m.entries[at] = e
			continue
		}
		m.add(e)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := Resolve(n.Content[i]); key.Kind != yaml.ScalarNode || key.ShortTag() != mergeTag {
			continue
		}
		if !p.merge(m, n.Content[i+1]) {
			return false
		}
	}
	return true
}

// merge adds what a merge key names: a mapping, or a list of mappings.
func (p *parser) merge(m *mapping, from *yaml.Node) bool {
	source := Resolve(from)
	if source.Kind == yaml.SequenceNode {
		for _, item := range source.Content {
			if Resolve(item).Kind == yaml.SequenceNode {
				//findings:says write a mapping, an alias of one, or a list of these after <<
				p.refuse(item, "a merge key takes mappings only")
				continue
			}
			if !p.merge(m, item) {
				return false
			}
		}
		return true
	}
	merged := p.d.mappings[source]
	if merged == nil {
		//findings:says write a mapping, an alias of one, or a list of these after <<
		p.refuse(from, "a merge key takes mappings only, not "+Describe(source))
		return true
	}
	if err := p.budget.Values(int64(len(merged.entries))); err != nil {
		return p.end(from, err)
	}
	for _, e := range merged.entries {
		if _, own := m.find(e.Name()); !own {
			m.add(e)
		}
	}
	return true
}

// Sound reports that no problem was found in the document: what it says has one meaning.
func (d *Document) Sound() bool { return !d.faulty }

// Repeats reports that a mapping of the document has a key twice, of which the last one counts.
func (d *Document) Repeats() bool { return d.repeats }

// In returns the document with another budget for its values.
func (d *Document) In(b *budget.Budget) *Document {
	other := *d
	other.budget = b
	return &other
}

// Get returns the value under a key of a mapping, no alias; nil where there is none, or no mapping.
func (d *Document) Get(n *yaml.Node, key string) *yaml.Node {
	m := d.mappings[Resolve(n)]
	if m == nil {
		return nil
	}
	if i, ok := m.find(key); ok {
		return m.entries[i].Value
	}
	return nil
}

// Entries lists a mapping: its own keys in the order of the file, then those that it merges. The caller must not change the
// list.
func (d *Document) Entries(n *yaml.Node) []Entry {
	if m := d.mappings[Resolve(n)]; m != nil {
		return m.entries
	}
	return nil
}

// Resolve follows an alias.
func Resolve(n *yaml.Node) *yaml.Node {
	// The parser makes no alias of an alias; a node without end must not be followed for ever.
	for i := 0; n != nil && n.Kind == yaml.AliasNode && i < 2; i++ {
		n = n.Alias
	}
	return n
}

// IsNull reports that there is no value, or null.
func IsNull(n *yaml.Node) bool {
	return n == nil || n.Kind == 0 || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// Describe names what a node is, for problems: "a mapping", "a list", "null", "a number", "a boolean", "text".
func Describe(n *yaml.Node) string {
	n = Resolve(n)
	switch {
	case n == nil || n.Kind == 0:
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a boolean"
	default:
		return "text"
	}
}
