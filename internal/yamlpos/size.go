package yamlpos

import "go.yaml.in/yaml/v3"

// mostSize is where Size ends to count.
const mostSize = 1 << 40

// Size returns how many values a node is with all below it, after aliases and merge keys are followed. It makes none of them.
func (d *Document) Size(n *yaml.Node) int64 {
	return d.size(n, map[*yaml.Node]int64{})
}

func (d *Document) size(n *yaml.Node, known map[*yaml.Node]int64) int64 {
	n = Resolve(n)
	if n.Kind == yaml.ScalarNode {
		return 1
	}
	if size, ok := known[n]; ok {
		return size
	}
	size := int64(1)
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			size = min(mostSize, size+d.size(item, known))
		}
	}
	for _, e := range d.Entries(n) {
		size = min(mostSize, size+d.size(e.Value, known))
	}
	known[n] = size
	return size
}
