package vnfd

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

const (
	// maxDepth bounds how many types are followed from one to the type that it derives from.
	maxDepth = 16
	// maxCount bounds instances and levels, so that no sum can overflow.
	maxCount = 1_000_000
	// getSteps is how many steps it takes to look up a key, itemSteps to take an item of a list, both with the way to it.
	getSteps  = 5
	itemSteps = 20
)

// value is a node of a document together with the way to it. The zero node is
// an absent value, on which every method works.
type value struct {
	doc  *document
	node *yaml.Node
	path string
}

// entry is one key of a mapping with its value.
type entry struct {
	name string
	// key is the position of the key.
	key value
	value
}

// describe names what a value is; scalars are quoted.
func describe(v value) string {
	if v.isText() {
		return strconv.Quote(v.node.Value)
	}
	if v.node == nil {
		return "null"
	}
	return yamlpos.Describe(v.node)
}

// ok tells whether there is a value other than null.
func (v value) ok() bool { return !yamlpos.IsNull(v.node) }

func (v value) isMap() bool  { return v.node != nil && v.node.Kind == yaml.MappingNode }
func (v value) isList() bool { return v.node != nil && v.node.Kind == yaml.SequenceNode }
func (v value) isText() bool { return v.ok() && v.node.Kind == yaml.ScalarNode }

func (v value) place() place {
	if v.node == nil {
		return place{file: v.doc.file}
	}
	return place{file: v.doc.file, line: v.node.Line, column: v.node.Column}
}

func (v value) errorf(format string, args ...any) {
	at := v.place()
	v.doc.r.problems.Errorf(at.file, at.line, at.column, format, args...)
}

func (v value) warnf(format string, args ...any) {
	at := v.place()
	v.doc.r.problems.Warnf(at.file, at.line, at.column, format, args...)
}

// child makes the value of n below v; functions of TOSCA are evaluated here, so
// that no other place has to know of them.
func (v value) child(n *yaml.Node, name string) value {
	p := name
	if v.path != "" {
		p = v.path + "." + name
	}
	if name == "" {
		p = v.path
	}
	return value{doc: v.doc, node: v.doc.evaluate(yamlpos.Resolve(n), 0), path: strings.TrimPrefix(p, "topology_template.")}
}

// get returns the value under the key, or an absent one.
func (v value) get(key string) value {
	if v.isMap() {
		v.doc.r.stepsAt(v.doc, v.node, getSteps)
		if n := v.doc.yaml.Get(v.node, key); n != nil {
			return v.child(n, key)
		}
	}
	return value{doc: v.doc, path: v.path + "." + key}
}

// wantMaps reports the values under the keys that are neither absent, empty nor maps.
func (v value) wantMaps(keys ...string) {
	for _, key := range keys {
		c := v.get(key)
		if !c.ok() || c.isMap() || c.isList() && len(c.node.Content) == 0 {
			continue
		}
		c.errorf("%s must be a mapping, not %s", c.path, describe(c))
	}
}

// at follows several keys.
func (v value) at(keys ...string) value {
	for _, k := range keys {
		v = v.get(k)
	}
	return v
}

// entries lists a mapping, or a list of mappings with one key each, in the order of the
// file: TOSCA writes policies, groups and requirements both ways.
func (v value) entries() []entry {
	switch {
	case !v.ok():
		return nil
	case v.isMap():
		return v.pairs(nil)
	case v.isList():
		v.doc.r.stepsAt(v.doc, v.node, getSteps*len(v.node.Content))
		var list []entry
		for _, n := range v.node.Content {
			item := v.child(n, "")
			if !item.ok() {
				continue
			}
			if !item.isMap() {
				item.errorf("%s: an item of the list must be a mapping, not %s", v.path, describe(item))
				continue
			}
			list = item.pairs(list)
		}
		return list
	default:
		v.errorf("%s must be a mapping, not %s", v.path, describe(v))
		return nil
	}
}

// pairs appends the entries of a mapping.
func (v value) pairs(list []entry) []entry {
	entries := v.doc.yaml.Entries(v.node)
	v.doc.r.stepsAt(v.doc, v.node, getSteps*len(entries))
	list = slices.Grow(list, len(entries))
	for _, e := range entries {
		list = append(list, entry{name: e.Name(), key: value{doc: v.doc, node: e.Key}, value: v.child(e.Value, e.Name())})
	}
	return list
}

// items lists a list; a lone scalar or map counts as a list of one.
func (v value) items() []value {
	switch {
	case !v.ok():
		return nil
	case v.isList():
		v.doc.r.stepsAt(v.doc, v.node, itemSteps*len(v.node.Content))
		list := make([]value, 0, len(v.node.Content))
		for i, n := range v.node.Content {
			item := v.child(n, "")
			item.path = v.path + "[" + strconv.Itoa(i) + "]"
			list = append(list, item)
		}
		return list
	default:
		return []value{v}
	}
}

// text returns a scalar as it was written.
func (v value) text() (string, bool) {
	switch {
	case !v.ok():
		return "", false
	case v.isText():
		return v.node.Value, true
	case v.unresolved():
		return "", false
	default:
		v.errorf("%s must be a string, not %s", v.path, describe(v))
		return "", false
	}
}

// unreadable tells whether text has already reported the value.
func (v value) unreadable() bool { return v.ok() && !v.isText() }

// str is text, and empty when there is none.
func (v value) str() string {
	s, _ := v.text()
	return s
}

// texts is the list of the scalars of a list.
func (v value) texts() []string {
	var list []string
	for _, item := range v.items() {
		if s, ok := item.text(); ok {
			list = append(list, s)
		}
	}
	return list
}

// unresolved reports a function of TOSCA that could not be evaluated.
func (v value) unresolved() bool {
	name, arg := function(v.node)
	if name == "" {
		return false
	}
	if name == "get_input" {
		//findings:says give the input a default, or write the value itself
		v.errorf("%s comes from the input %q, which has no default in this file", v.path, firstText(arg))
	} else {
		v.errorf("%s is computed by %s, which cannot be evaluated here; write the value itself", v.path, name)
	}
	return true
}

// count returns a number of instances or a level: a whole number that is not negative.
func (v value) count() (int, bool) {
	if !v.ok() {
		return 0, false
	}
	if !v.isText() {
		if !v.unresolved() {
			v.errorf("%s must be a whole number, not %s", v.path, describe(v))
		}
		return 0, false
	}
	s := v.node.Value
	n, err := strconv.Atoi(s)
	if err != nil || s != strconv.Itoa(n) {
		v.errorf("%s must be a whole number, not %q", v.path, s)
		return 0, false
	}
	if n < 0 || n > maxCount {
		v.errorf("%s must be between 0 and %d, not %d", v.path, maxCount, n)
		return 0, false
	}
	return n, true
}

// number returns a decimal number that is not negative.
func (v value) number() float64 {
	s, ok := v.text()
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1e9 {
		v.errorf("%s must be a non-negative number, not %q", v.path, s)
		return 0
	}
	return f
}

// flag returns a boolean, true when there is none; YAML 1.1 had more words for it than YAML 1.2 has.
func (v value) flag() bool {
	s, ok := v.text()
	if !ok {
		return true
	}
	switch strings.ToLower(s) {
	case "true", "yes", "on":
	case "false", "no", "off":
		return false
	default:
		v.errorf("%s must be true or false, not %q", v.path, s)
	}
	return true
}

// bytes returns a size (scalar-unit.size) in bytes.
func (v value) bytes() int64 {
	s, ok := v.text()
	if !ok {
		return 0
	}
	n, ok := parseSize(s)
	if !ok {
		v.errorf("%s is %q; a size is a number below 2^63 with one of the units B, kB, KiB, MB, MiB, GB, GiB, TB, TiB, for example 512 MiB; without a unit it is in bytes", v.path, s)
	}
	return n
}
