package hot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

// leaf is a value below the parameter nfv that a template asks for, as in
// { get_param: [nfv, VDU, VDU1, computeFlavourId] }.
type leaf struct {
	// path is the way below nfv: texts, and numbers for items of lists.
	path []any
	// name is the second step without the number of a VNFC, number that number; a leaf
	// that is none of a copy has -1.
	name   string
	number int
	at     vnfm.Place
}

// numberedName is a name for one VNFC in its parts.
type numberedName struct {
	name   string
	number int
}

// section is VDU or CP; old packages write them in lower case.
func (l *leaf) section() string {
	if len(l.path) < 2 {
		return ""
	}
	return strings.ToUpper(textOf(l.path[0]))
}

// keys are what is asked for of a VDU or connection point.
func (l *leaf) keys() []any {
	if len(l.path) < 2 {
		return nil
	}
	return l.path[2:]
}

// key is keys when that is one text, and empty otherwise.
func (l *leaf) key() string {
	if keys := l.keys(); len(keys) == 1 {
		return textOf(keys[0])
	}
	return ""
}

// String is the way as a user writes it: nfv.VDU.VDU1.computeFlavourId.
func (l *leaf) String() string {
	var b strings.Builder
	b.WriteString(nfv)
	for _, step := range l.path {
		fmt.Fprintf(&b, ".%v", step)
	}
	return b.String()
}

// plain is the way without the number of a VNFC.
func (l *leaf) plain() leaf {
	out := leaf{path: slices.Clone(l.path), name: l.name, number: -1, at: l.at}
	if len(out.path) > 1 {
		out.path[1] = l.name
	}
	return out
}

// asLeaf reads the argument of get_param.
func asLeaf(arg any, names map[string]numberedName) (leaf, bool) {
	list, ok := arg.([]any)
	if !ok || len(list) < 2 || textOf(list[0]) != nfv {
		return leaf{}, false
	}
	l := leaf{path: list[1:], number: -1}
	for _, step := range l.path {
		switch step.(type) {
		case string, int64, int:
		default:
			return leaf{}, false
		}
	}
	if len(l.path) > 1 {
		l.name = textOf(l.path[1])
		if n, copied := names[l.name]; copied {
			l.name, l.number = n.name, n.number
		}
	}
	return l, true
}

// leavesOf lists the leaves that a template, or a part of it, asks for, each once.
func leavesOf(v any, names map[string]numberedName, place func(way []yamlpos.Step) vnfm.Place) []leaf {
	found := map[string]leaf{}
	visit(v, nil, func(way []yamlpos.Step, name string, arg any) bool {
		if name != fnParam {
			return true
		}
		if l, ok := asLeaf(arg, names); ok {
			if _, seen := found[l.String()]; !seen {
				l.at = place(way)
				found[l.String()] = l
			}
		}
		return true
	})
	list := make([]leaf, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[key])
	}
	return list
}

// leaves lists those of the templates as the package has them: of the top-level one,
// and of nested ones that are handed the parameter as a whole.
func (s *Source) leaves() []leaf {
	list := leavesOf(s.Top, nil, s.top.at)
	return append(list, s.nestedLeaves()...)
}

func (s *Source) nestedLeaves() []leaf {
	var list []leaf
	for _, name := range sorted(s.nested) {
		t := s.nested[name]
		if _, ok := t.section("parameters")[nfv]; ok {
			list = append(list, leavesOf(t.body, nil, t.at)...)
		}
	}
	return list
}

// passesWholeNFV reports whether a template passes the parameter nfv on as a whole.
func (s *Source) passesWholeNFV() bool {
	found := false
	visit(s.Top, nil, func(_ []yamlpos.Step, name string, arg any) bool {
		if list, ok := arg.([]any); name == fnParam && (textOf(arg) == nfv || ok && len(list) == 1 && textOf(list[0]) == nfv) {
			found = true
		}
		return !found
	})
	return found
}

// lookUp follows a way into a value; false when there is nothing, or null.
func lookUp(v any, path []any) (any, bool) {
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[fmt.Sprint(step)]
		case []any:
			i, ok := step.(int64)
			if !ok || i < 0 || int(i) >= len(at) {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, v != nil
}

// grown is a value that is built leaf by leaf. A map with numbers as keys becomes a list.
type grown map[any]any

func (g grown) set(path []any, v any) {
	if len(path) == 1 {
		g[path[0]] = v
		return
	}
	below, ok := g[path[0]].(grown)
	if !ok {
		below = grown{}
		g[path[0]] = below
	}
	below.set(path[1:], v)
}

func (g grown) value() any {
	var list []any
	out := map[string]any{}
	for key, v := range g {
		if below, ok := v.(grown); ok {
			v = below.value()
		}
		if i, ok := key.(int64); ok && i >= 0 && i < maxItems {
			for int64(len(list)) <= i {
				list = append(list, map[string]any{})
			}
			list[i] = v
			continue
		}
		out[fmt.Sprint(key)] = v
	}
	if list != nil && len(out) == 0 {
		return list
	}
	for i, v := range list {
		out[fmt.Sprint(i)] = v
	}
	return out
}

// maxItems bounds the numbers that count as those of items.
const maxItems = 1000

// merge lays a merge patch over a value (RFC 7396).
func merge(v, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	out := maps.Clone(mapOf(v))
	if out == nil {
		out = map[string]any{}
	}
	for key, change := range changes {
		if change == nil {
			delete(out, key)
			continue
		}
		out[key] = merge(out[key], change)
	}
	return out
}
