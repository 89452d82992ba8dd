package vnfm

// ReadinessRule says when the objects of a kind are ready, instead of the rule of
// the infra driver. It has either a condition or a path.
type ReadinessRule struct {
	// Kind is "group/Kind", without group for the core group.
	Kind string `json:"kind"`
	// Condition is the type of a condition that must have the status Value, "True"
	// when that is empty.
	Condition string `json:"condition,omitempty"`
	// JSONPath leads to a field that must be Value.
	JSONPath string `json:"jsonpath,omitempty"`
	Value    string `json:"value,omitempty"`
}
