package kube

import (
	"context"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MissingRights says, with one request, which of the verbs that an instance needs in its life
// the credentials lack for resources in a namespace: a line for each resource, as
// "deployments.apps: create, patch". An authorizer that cannot list its rules has none missing.
func (c *Client) MissingRights(ctx context.Context, namespace string, resources []Resource) ([]string, error) {
	review, err := c.rules(ctx, namespace)
	if err != nil || review.Status.Incomplete {
		return nil, err
	}
	var lines []string
	for _, r := range resources {
		n := need{group: r.GVR.Group, resource: r.GVR.Resource}
		var missing []string
		for _, verb := range manage {
			offered := len(r.Verbs) == 0 || slices.Contains(r.Verbs, verb)
			if offered && !allows(unnamed(review.Status.ResourceRules, verb), n, verb) {
				missing = append(missing, verb)
			}
		}
		if len(missing) > 0 {
			lines = append(lines, n.name()+": "+strings.Join(missing, ", "))
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines), nil
}

// unnamed are rules without the names of objects that they are limited to, as far as a verb
// can be: they may be those of the instance.
func unnamed(rules []authorizationv1.ResourceRule, verb string) []authorizationv1.ResourceRule {
	if !slices.Contains([]string{"get", "patch", "delete"}, verb) {
		return rules
	}
	out := slices.Clone(rules)
	for i := range out {
		out[i].ResourceNames = nil
	}
	return out
}

// rules asks for what the credentials may do in a namespace, and in the whole cluster.
func (c *Client) rules(ctx context.Context, namespace string) (*authorizationv1.SelfSubjectRulesReview, error) {
	review := &authorizationv1.SelfSubjectRulesReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectRulesReview"},
		Spec:     authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
	}
	return review, c.review(ctx, "selfsubjectrulesreviews", review)
}
