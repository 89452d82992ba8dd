package vnfm

import (
	"reflect"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// Unit is something that runs for an instance: the VNFCs of a VDU, a Job, the machines of a node group.
type Unit struct {
	// Object is the identity of the object that describes it, where that is one.
	Object string
	// Count is how many there are, and nil where that is not counted or not known.
	Count *int
	// Of is what is counted, when that is no VNFC.
	Of string
	// Added says what a new unit does: "added" where it is empty.
	Added string
	// Parts are what the unit is made of.
	Parts []UnitPart
}

// UnitPart is something that a unit is made of.
type UnitPart struct {
	Name  string
	Value any
	// Effect is what becomes of the unit when the value changes.
	Effect Effect
}

// Effect is what a change does to what runs.
type Effect struct {
	// Rank orders effects: the highest is said.
	Rank int
	Text string
}

// Changed returns what becomes of a unit that was another one; empty when nothing does.
func (u *Unit) Changed(was *Unit) string {
	effect := Effect{Rank: -1}
	note := func(e Effect) {
		if e.Rank > effect.Rank {
			effect = e
		}
	}
	find := func(in *Unit, name string) int {
		return slices.IndexFunc(in.Parts, func(p UnitPart) bool { return p.Name == name })
	}
	for _, part := range u.Parts {
		if at := find(was, part.Name); at < 0 || !reflect.DeepEqual(was.Parts[at].Value, part.Value) {
			note(part.Effect)
		}
	}
	for _, part := range was.Parts {
		if find(u, part.Name) < 0 {
			note(part.Effect)
		}
	}
	return effect.Text
}

// PlannedUpdate says in words what an update of an instance will do.
type PlannedUpdate struct {
	// Operations are the LCM operations in their order, each followed by indented lines for the VDUs that it touches and the hooks that it
	// calls.
	Operations []string
	// Changes are the fields that change, by the identity of the object as written. Objects that are new are not among them.
	Changes map[string][]string
}

// FieldRule says how a plan words changes of some fields of an infra driver's objects. It applies to lines of the form "<path>: <change>", as
// fielddiff writes them.
type FieldRule struct {
	Lines *lazyregexp.Regexp
	// Words replace what Lines matches, with $1 for its first group. Without any the line stays.
	Words string
	// Counted says that what Lines matches is the path of a long part of an object, of which only the number of changed fields is said.
	Counted bool
	// Common says that many objects have the field alike: one change of all of them is said once.
	Common bool
}

// FieldRules are the rules of one or several infra drivers.
type FieldRules []FieldRule

// Reword returns a line in the words of the rules.
func (r FieldRules) Reword(line string) string {
	for _, rule := range r {
		if rule.Words != "" {
			line = rule.Lines.ReplaceAllString(line, rule.Words)
		}
	}
	return line
}

// Counted returns the path of the part of an object that a line is about and whose changed fields are counted; empty for other lines.
func (r FieldRules) Counted(line string) string {
	for _, rule := range r {
		if path := rule.Lines.FindString(line); rule.Counted && path != "" {
			return path
		}
	}
	return ""
}

// Common reports whether a line is about a field that many objects have alike.
func (r FieldRules) Common(line string) bool {
	return slices.ContainsFunc(r, func(rule FieldRule) bool { return rule.Common && rule.Lines.MatchString(line) })
}
