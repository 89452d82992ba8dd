package yamlpos

import "go.yaml.in/yaml/v3"

// Step is one step on a way to a value: the key of a mapping, or the index of an item of a list. The value that the step is
// taken from says which of the two counts.
type Step struct {
	Key   string
	Index int
}

// Place returns what stands first of the value at the end of a way: its key, or the item of the list. It is that of the
// deepest value on the way that exists.
func (d *Document) Place(n *yaml.Node, way ...Step) *yaml.Node {
	at, _ := d.follow(n, way)
	return at
}

// ValueAt returns the deepest value on a way that exists.
func (d *Document) ValueAt(n *yaml.Node, way ...Step) *yaml.Node {
	_, value := d.follow(n, way)
	return value
}

func (d *Document) follow(n *yaml.Node, way []Step) (at, value *yaml.Node) {
	at = n
	for _, step := range way {
		switch n = Resolve(n); {
		case n == nil:
			return at, at
		case n.Kind == yaml.SequenceNode:
			if step.Index < 0 || step.Index >= len(n.Content) {
				return at, n
			}
			n = n.Content[step.Index]
			at = n
		default:
			m := d.mappings[n]
			if m == nil {
				return at, n
			}
			i, ok := m.find(step.Key)
			if !ok {
				return at, n
			}
			at, n = m.entries[i].Key, m.entries[i].Value
		}
	}
	return at, Resolve(n)
}
