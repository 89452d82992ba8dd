package readiness

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
)

// Rule is a condition or a field that makes an object ready. It replaces the built-in
// rule of the kind: custom resources follow conventions of their own.
type Rule struct {
	// condition is the type of a condition; without one, path leads to a field.
	condition string
	path      string
	// value is what the condition's status, or the field, must be.
	value string
}

// ConditionRule makes an object ready when the condition of that type has that
// status; an empty status is "True".
func ConditionRule(condition, status string) *Rule {
	return &Rule{condition: condition, value: cmp.Or(status, "True")}
}

// PathRule makes an object ready when all that a JSONPath finds in it, and
// something at least, has that value. The path is written as for kubectl, in
// braces: {.status.phase}.
func PathRule(path, value string) (*Rule, error) {
	if !strings.HasPrefix(path, "{") || !strings.HasSuffix(path, "}") {
		return nil, fmt.Errorf("the JSONPath %q must be in braces, for example {.status.phase}", path)
	}
	parser, err := jsonpath.Parse("readiness", path)
	if err != nil {
		return nil, fmt.Errorf("the JSONPath %q cannot be read: %w", path, err)
	}
	if len(parser.Root.Nodes) != 1 || !leadsToField(parser.Root.Nodes[0]) {
		return nil, fmt.Errorf("the JSONPath %q must be one path to a field, for example {.status.phase}", path)
	}
	return &Rule{path: path, value: value}, nil
}

// leadsToField tells a path from texts, numbers and ranges, which are JSONPath too.
func leadsToField(n jsonpath.Node) bool {
	list, ok := n.(*jsonpath.ListNode)
	if !ok || len(list.Nodes) == 0 {
		return false
	}
	switch list.Nodes[0].Type() {
	case jsonpath.NodeField, jsonpath.NodeArray, jsonpath.NodeRecursive, jsonpath.NodeWildcard:
		return true
	default:
		return false
	}
}

// judge applies the rule. A status of an older generation of the object is
// not considered; metadata has no generation.
func (r *Rule) judge(obj *unstructured.Unstructured) *Verdict {
	if strings.HasPrefix(r.path, "{.metadata.") {
		return r.judgePath(obj)
	}
	if seen := integer(obj, obj.GetGeneration(), "status", "observedGeneration"); seen < obj.GetGeneration() {
		return notObserved(obj)
	}
	if r.condition != "" {
		return r.judgeCondition(obj)
	}
	return r.judgePath(obj)
}

func (r *Rule) judgeCondition(obj *unstructured.Unstructured) *Verdict {
	c := Condition(obj, r.condition)
	if c.Generation != 0 && c.Generation < obj.GetGeneration() {
		return notObserved(obj)
	}
	text := "condition " + r.condition + " is " + cmp.Or(c.Status, "not set")
	if c.Status == r.value {
		return isReady(text)
	}
	if r.value != "True" {
		text += ", wanted " + r.value
	}
	if c.Message != "" {
		text += ": " + c.Message
	}
	return inProgress(cmp.Or(c.Reason, "NotReady"), text)
}

func (r *Rule) judgePath(obj *unstructured.Unstructured) *Verdict {
	field := strings.Trim(r.path, "{}")
	found, err := valuesAt(obj, r.path)
	if err != nil {
		return inProgress("NotReady", fmt.Sprintf("%s cannot be read, wanted %s: %v", field, r.value, err))
	}
	if len(found) == 0 {
		return inProgress("NotReady", fmt.Sprintf("%s is not set, wanted %s", field, r.value))
	}
	for _, v := range found {
		if v != r.value {
			return inProgress("NotReady", fmt.Sprintf("%s is %s, wanted %s", field, cmp.Or(v, "empty"), r.value))
		}
	}
	return isReady(field + " is " + r.value)
}

// valuesAt returns what a JSONPath finds in an object, as text. The path is parsed
// again each time: one that was parsed keeps what it found last.
func valuesAt(obj *unstructured.Unstructured, path string) ([]string, error) {
	j := jsonpath.New("readiness").AllowMissingKeys(true)
	if err := j.Parse(path); err != nil {
		return nil, err
	}
	results, err := j.FindResults(obj.Object)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, values := range results {
		for _, v := range values {
			text, err := valueText(v)
			if err != nil {
				return nil, err
			}
			out = append(out, text)
		}
	}
	return out, nil
}

// valueText writes a value as a user would: a text without quotes, all else as JSON.
func valueText(v reflect.Value) (string, error) {
	if !v.IsValid() || !v.CanInterface() {
		return "", errors.New("the path does not lead to a value")
	}
	if s, ok := v.Interface().(string); ok {
		return s, nil
	}
	raw, err := json.Marshal(v.Interface())
	return string(raw), err
}
