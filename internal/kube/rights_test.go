package kube

import (
	"bytes"
	"os"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kyaml "sigs.k8s.io/yaml"
)

// TestDocumentedRights checks that the Role of the documentation gives every right that the check of a VIM looks for.
func TestDocumentedRights(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/rights/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rules []authorizationv1.ResourceRule
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var role rbacv1.Role
		if err := kyaml.Unmarshal(document, &role); err != nil {
			t.Fatal(err)
		}
		for _, r := range role.Rules {
			rules = append(rules, authorizationv1.ResourceRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources})
		}
	}
	for _, n := range needs {
		for _, verb := range n.verbs {
			if !allows(rules, n, verb) {
				t.Errorf("the Role lacks %s of %s", verb, n.name())
			}
		}
	}
	if strings.Contains(string(text), "*") {
		t.Error("the Role gives everything of something")
	}
}
