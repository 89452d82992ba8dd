package render

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kube/readiness"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The annotations with which a package sets the readiness rule of an object.
const (
	// annotationReadyCondition is "<condition>" or "<condition>=<status>".
	annotationReadyCondition = vnfm.LabelPrefix + "ready-condition"
	// annotationReadyPath is "{<path>}=<value>".
	annotationReadyPath = vnfm.LabelPrefix + "ready-jsonpath"
)

// packageAnnotations are the annotations with the prefix vnfm.LabelPrefix that a package may set. Only the driver sets the others.
var packageAnnotations = []string{annotationReadyCondition, annotationReadyPath, annotationIgnore}

// noReadiness is the reason for rejecting the rule of a kind.
const noReadiness = "objects of kind %s are ready as soon as they exist"

// annotatedRule returns the rule in the annotations of a manifest; nil for none.
func annotatedRule(gk schema.GroupKind, meta map[string]any, refuse func([]string, string, ...any)) *readiness.Rule {
	annotations, _ := meta["annotations"].(map[string]any)
	at := func(name string) []string { return []string{"metadata", "annotations", name} }
	condition, byCondition := annotations[annotationReadyCondition].(string)
	path, byPath := annotations[annotationReadyPath].(string)
	switch {
	case !byCondition && !byPath:
		return nil
	case byCondition && byPath:
		refuse(at(annotationReadyPath), "%s and %s cannot both be given", annotationReadyCondition, annotationReadyPath)
		return nil
	case readiness.WithoutStatus(gk):
		refuse(at(annotationReadyCondition), noReadiness, gk.Kind)
		return nil
	case byCondition:
		name, status, _ := strings.Cut(condition, "=")
		if name == "" {
			refuse(at(annotationReadyCondition), "%s must be a condition, or condition=status", annotationReadyCondition)
			return nil
		}
		return readiness.ConditionRule(name, status)
	}
	query, value, ok := strings.Cut(path, "}=")
	if !ok || value == "" {
		refuse(at(annotationReadyPath), "%s must be a JSONPath in braces, =, and the value, for example {.status.phase}=Running", annotationReadyPath)
		return nil
	}
	rule, err := readiness.PathRule(query+"}", value)
	if err != nil {
		refuse(at(annotationReadyPath), "%s: %v", annotationReadyPath, err)
	}
	return rule
}

// setRules sets the rules of the instance, which override rules in manifests.
func (r *Rendering) setRules(rules []vnfm.ReadinessRule, ps *vnfm.Problems) {
	seen := map[string]int{}
	for i := range rules {
		given := &rules[i]
		refuse := func(field, summary, detail string) {
			*ps = append(*ps, vnfm.Problem{Attribute: fmt.Sprintf("readiness.%d.%s", i, field), Summary: summary, Detail: detail})
		}
		if first, twice := seen[given.Kind]; twice {
			refuse("kind", fmt.Sprintf("kind %s has two rules of readiness", given.Kind), fmt.Sprintf("the first one is readiness[%d]", first))
			continue
		}
		seen[given.Kind] = i
		rule := readiness.ConditionRule(given.Condition, given.Value)
		if given.JSONPath != "" {
			var err error
			if rule, err = readiness.PathRule(given.JSONPath, given.Value); err != nil {
				refuse("jsonpath", err.Error(), "the path is written as for kubectl wait --for=jsonpath")
				continue
			}
		}
		found := false
		for _, o := range r.Objects {
			if groupKind(o.GVK.GroupKind()) != given.Kind {
				continue
			}
			if found = true; readiness.WithoutStatus(o.GVK.GroupKind()) {
				refuse("kind", fmt.Sprintf(noReadiness, given.Kind), "remove the rule")
				break
			}
			o.Rule = rule
		}
		if !found {
			refuse("kind", fmt.Sprintf("the package has no object of kind %s", given.Kind), "its kinds are "+strings.Join(r.kinds(), ", "))
		}
	}
}

// groupKind writes a kind in the form of the arguments: "group/Kind", or "Kind" for the core group.
func groupKind(gk schema.GroupKind) string {
	if gk.Group == "" {
		return gk.Kind
	}
	return gk.Group + "/" + gk.Kind
}

// kinds lists the kinds of objects that can have a rule, for problems.
func (r *Rendering) kinds() []string {
	var out []string
	for _, o := range r.Objects {
		if gk := o.GVK.GroupKind(); !readiness.WithoutStatus(gk) {
			out = append(out, groupKind(gk))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
