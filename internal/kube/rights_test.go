package kube

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kyaml "sigs.k8s.io/yaml"
)

// TestDocumentedRights checks that the Role of the documentation gives every right that the check of a VIM looks for.
func TestDocumentedRights(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/rights/kubernetes.yaml")
	require.NoError(t, err)
	var rules []authorizationv1.ResourceRule
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var role rbacv1.Role
		require.NoError(t, kyaml.Unmarshal(document, &role))
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

// TestMissingRights names what is missing for all kinds of an instance, with one request.
func TestMissingRights(t *testing.T) {
	t.Parallel()
	resource := func(group, name string, verbs ...string) Resource {
		return Resource{GVR: gvk(strings.TrimPrefix(group+"/v1", "/"), "X").GroupVersion().WithResource(name), Verbs: verbs}
	}
	all := []Resource{resource("apps", "deployments"), resource("", "services"), resource("", "services"), resource("example.org", "cells", "get", "create", "patch", "delete")}
	rule := func(group, name string, names []string, verbs ...string) authorizationv1.ResourceRule {
		return authorizationv1.ResourceRule{Verbs: verbs, APIGroups: []string{group}, Resources: []string{name}, ResourceNames: names}
	}
	for name, test := range map[string]struct {
		status authorizationv1.SubjectRulesReviewStatus
		want   []string
	}{
		"everything": {authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{rule("*", "*", nil, "*")}}, nil},
		"nothing": {authorizationv1.SubjectRulesReviewStatus{}, []string{
			"cells.example.org: get, create, patch, delete", "deployments.apps: get, list, watch, create, patch, delete", "services: get, list, watch, create, patch, delete",
		}},
		"some": {authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{
			rule("apps", "deployments", nil, "get", "list", "watch", "create"), rule("", "services", nil, "*"), rule("example.org", "cells", []string{"a"}, "*"),
		}}, []string{"cells.example.org: create", "deployments.apps: patch, delete"}},
		"nobody can tell": {authorizationv1.SubjectRulesReviewStatus{Incomplete: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, n := scripted(t, func(w http.ResponseWriter) {
				_ = json.NewEncoder(w).Encode(authorizationv1.SelfSubjectRulesReview{Status: test.status})
			})
			got, err := c.MissingRights(t.Context(), "core", all)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v\n%s", err, diff)
			}
			if n.Load() != 1 {
				t.Errorf("%d requests", n.Load())
			}
		})
	}
}
