package ansible

import "go.yaml.in/yaml/v3"

// Literal is a text in an inventory or in variables that Ansible takes as it is: in other texts "{{" begins a template, which
// a password may contain.
type Literal string

// MarshalYAML implements yaml.Marshaler.
func (l Literal) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!unsafe", Value: string(l), Style: yaml.DoubleQuotedStyle}, nil
}
