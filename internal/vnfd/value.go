package vnfd

import (
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	mergeKey = "<<"
	// maxDepth bounds the nesting of merge keys and functions that is followed.
	maxDepth = 16
	// maxCount bounds instances and levels, so that no sum can overflow.
	maxCount = 1_000_000
)

// value is a node of a document together with the way to it. The zero node is
// an absent value, on which every method works.
type value struct {
	doc  *document
	node *yaml.Node
	path string
}

// entry is one key of a map with its value.
type entry struct {
	name string
	// key is the position of the key.
	key value
	value
}

func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == 0 || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		if isNull(n) {
			return "null"
		}
		return strconv.Quote(n.Value)
	case yaml.AliasNode, yaml.DocumentNode:
		return "an alias"
	default:
		return "nothing"
	}
}

// unalias follows an alias to what it stands for.
func unalias(n *yaml.Node) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.AliasNode && i < maxDepth; i++ {
		n = n.Alias
	}
	return n
}

// ok tells whether there is a value other than null.
func (v value) ok() bool { return !isNull(v.node) }

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
	return value{doc: v.doc, node: v.doc.evaluate(unalias(n), 0), path: strings.TrimPrefix(p, "topology_template.")}
}

// get returns the value under the key, or an absent one.
func (v value) get(key string) value {
	if v.isMap() {
		if n := lookup(v.node, key, 0); n != nil {
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
		c.errorf("%s must be a map, not %s", c.path, kindName(c.node))
	}
}

// at follows several keys.
func (v value) at(keys ...string) value {
	for _, k := range keys {
		v = v.get(k)
	}
	return v
}

// lookup finds a key in a map; a merge key (<<) gives what the map itself lacks.
func lookup(n *yaml.Node, key string, depth int) *yaml.Node {
	if n = unalias(n); n == nil || n.Kind != yaml.MappingNode || depth > maxDepth {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key && n.Content[i].Kind == yaml.ScalarNode {
			return n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != mergeKey {
			continue
		}
		from := unalias(n.Content[i+1])
		if from != nil && from.Kind == yaml.SequenceNode {
			for _, one := range from.Content {
				if found := lookup(one, key, depth+1); found != nil {
					return found
				}
			}
			continue
		}
		if found := lookup(from, key, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// entries lists a map, or a list of maps with one key each, in the order of the
// file: TOSCA writes policies, groups and requirements both ways.
func (v value) entries() []entry {
	switch {
	case !v.ok():
		return nil
	case v.isMap():
		return v.pairs(nil, 0)
	case v.isList():
		var list []entry
		for _, n := range v.node.Content {
			item := v.child(n, "")
			if !item.ok() {
				continue
			}
			if !item.isMap() {
				item.errorf("%s: an item of the list must be a map, not %s", v.path, kindName(item.node))
				continue
			}
			list = item.pairs(list, 0)
		}
		return list
	default:
		v.errorf("%s must be a map, not %s", v.path, kindName(v.node))
		return nil
	}
}

// maxEntries bounds what aliases can multiply one map to.
const maxEntries = 100_000

func (v value) pairs(list []entry, depth int) []entry {
	if depth > maxDepth {
		return list
	}
	var merged []value
	for i := 0; i+1 < len(v.node.Content) && len(list) < maxEntries; i += 2 {
		key, n := unalias(v.node.Content[i]), v.node.Content[i+1]
		if key == nil || key.Kind != yaml.ScalarNode {
			at := value{doc: v.doc, node: v.node.Content[i]}
			at.errorf("%s: a key must be text", v.path)
			continue
		}
		if key.Value != mergeKey {
			list = append(list, entry{name: key.Value, key: value{doc: v.doc, node: key}, value: v.child(n, key.Value)})
			continue
		}
		from := v.child(n, "")
		if from.isList() {
			for _, one := range from.node.Content {
				merged = append(merged, v.child(one, ""))
			}
		} else {
			merged = append(merged, from)
		}
	}
	for _, m := range merged {
		if !m.isMap() {
			continue
		}
		for _, e := range m.pairs(nil, depth+1) {
			if !hasEntry(list, e.name) {
				list = append(list, e)
			}
		}
	}
	return list
}

func hasEntry(list []entry, name string) bool {
	for _, e := range list {
		if e.name == name {
			return true
		}
	}
	return false
}

// items lists a list; a lone scalar or map counts as a list of one.
func (v value) items() []value {
	switch {
	case !v.ok():
		return nil
	case v.isList():
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
		v.errorf("%s must be text, not %s", v.path, kindName(v.node))
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
			v.errorf("%s must be a whole number, not %s", v.path, kindName(v.node))
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
		v.errorf("%s must be a number that is not negative, not %q", v.path, s)
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
	n, err := ParseSize(s)
	if err != nil {
		v.errorf("%s: %v", v.path, err)
		return 0
	}
	return n
}
