package ansible

import "go.yaml.in/yaml/v3"

// Literal is a text that Ansible uses unchanged in an inventory or in variables. Elsewhere "{{", which a password may contain, begins a
// template.
type Literal string

// MarshalYAML implements yaml.Marshaler.
func (l Literal) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!unsafe", Value: string(l), Style: yaml.DoubleQuotedStyle}, nil
}
