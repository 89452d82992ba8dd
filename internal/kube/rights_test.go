package kube

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kyaml "sigs.k8s.io/yaml"
)

// TestDocumentedRights checks that the documented Role grants every right that Check requires.
func TestDocumentedRights(t *testing.T) {
	t.Parallel()
	rules, text := documented(t, "kubernetes.yaml")
	for _, n := range needs {
		for _, verb := range n.verbs {
			assert.True(t, allows(rules, n, verb), "the Role lacks %s of %s", verb, n.name())
		}
	}
	assert.NotContains(t, text, "*", "the Role gives everything of something")
}

// TestDocumentedRightsToPlan checks that the Role for planning reads all kinds that the other Role
// manages, and grants nothing else.
func TestDocumentedRightsToPlan(t *testing.T) {
	t.Parallel()
	all, _ := documented(t, "kubernetes.yaml")
	rules, text := documented(t, "kubernetes-plan.yaml")
	for _, r := range all {
		if !slices.Contains(r.Verbs, "create") || slices.Contains(r.APIGroups, "coordination.k8s.io") {
			continue
		}
		for _, resource := range r.Resources {
			for _, verb := range []string{"get", "list"} {
				n := (need{group: r.APIGroups[0], resource: resource})
				assert.True(t, allows(rules, n, verb), "the Role lacks %s of %s", verb, n.name())
			}
		}
	}
	for _, r := range rules {
		for _, verb := range r.Verbs {
			require.Contains(t, []string{"get", "list"}, verb)
		}
	}
	require.NotContains(t, text, "*")
}

// documented returns the rules of the Roles in a file of the examples, and the text of the file.
func documented(t *testing.T, file string) (rules []authorizationv1.ResourceRule, text string) {
	t.Helper()
	data, err := os.ReadFile("../../examples/rights/" + file)
	require.NoError(t, err)
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		var role rbacv1.Role
		require.NoError(t, kyaml.Unmarshal(document, &role))
		for _, r := range role.Rules {
			rules = append(rules, authorizationv1.ResourceRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources})
		}
	}
	return rules, string(data)
}

// TestRights reports the missing rights for all kinds of an instance with one request, and
// recognises read-only credentials.
func TestRights(t *testing.T) {
	t.Parallel()
	resource := func(group, name string, verbs ...string) Resource {
		return Resource{GVR: gvk(strings.TrimPrefix(group+"/v1", "/"), "X").GroupVersion().WithResource(name), Verbs: verbs}
	}
	all := []Resource{resource("apps", "deployments"), resource("", "services"), resource("", "services"), resource("example.org", "cells", "get", "create", "patch", "delete")}
	rule := func(group, name string, names []string, verbs ...string) authorizationv1.ResourceRule {
		return authorizationv1.ResourceRule{Verbs: verbs, APIGroups: []string{group}, Resources: []string{name}, ResourceNames: names}
	}
	rules := func(rules ...authorizationv1.ResourceRule) authorizationv1.SubjectRulesReviewStatus {
		return authorizationv1.SubjectRulesReviewStatus{ResourceRules: rules}
	}
	for name, test := range map[string]struct {
		status            authorizationv1.SubjectRulesReviewStatus
		missing           string
		readOnly, unknown bool
	}{
		"everything": {status: rules(rule("*", "*", nil, "*"))},
		"nothing": {
			status:  rules(),
			missing: "get, create, patch, delete cells.example.org; get, list, watch, create, patch, delete deployments.apps, services",
		},
		"some": {
			status: rules(
				rule("apps", "deployments", nil, "get", "list", "watch", "create"), rule("", "services", nil, "*"), rule("example.org", "cells", []string{"a"}, "*"),
			),
			missing: "create cells.example.org; patch, delete deployments.apps",
		},
		"to read": {
			status: rules(rule("*", "*", nil, "get", "list")), readOnly: true,
			missing: "create, patch, delete cells.example.org; watch, create, patch, delete deployments.apps, services",
		},
		"to read some": {
			status: rules(rule("*", "deployments", nil, "get", "list", "watch"), rule("*", "cells", nil, "get")), readOnly: true,
			missing: "create, patch, delete cells.example.org, deployments.apps; get, list, watch, create, patch, delete services",
		},
		"to write one": {
			status:  rules(rule("*", "*", nil, "get", "list", "watch"), rule("", "services", nil, "patch")),
			missing: "create, patch, delete cells.example.org, deployments.apps; create, delete services",
		},
		"incomplete list": {status: authorizationv1.SubjectRulesReviewStatus{Incomplete: true}, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, n := scripted(t, func(w http.ResponseWriter) {
				_ = json.NewEncoder(w).Encode(authorizationv1.SelfSubjectRulesReview{Status: test.status})
			})
			got, err := c.Rights(t.Context(), "core", all)
			require.NoError(t, err)
			assert.Equal(t, test.missing, got.Missing.String())
			assert.Equal(t, test.readOnly, got.ReadOnly)
			assert.Equal(t, test.unknown, got.Unknown)
			assert.Equal(t, int64(1), n.Load())
		})
	}
}
