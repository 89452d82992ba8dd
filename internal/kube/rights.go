package kube

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rights are the rights of credentials to some kinds in a namespace.
type Rights struct {
	// Missing are the verbs that an instance needs in its life cycle and that are not granted.
	Missing MissingRights
	// ReadOnly is set if some of the resources may be read and none may be written.
	ReadOnly bool
	// Unknown is set if the authorizer cannot list its rules; Missing is then empty.
	Unknown bool
}

// Rights reads the rights of the credentials to resources in a namespace, with one request.
func (c *Client) Rights(ctx context.Context, namespace string, resources []Resource) (Rights, error) {
	review, err := c.askedRules(ctx, namespace)
	if err != nil || review.Status.Incomplete {
		return Rights{Unknown: true}, err
	}
	var out Rights
	written := false
	for _, r := range resources {
		n := need{group: r.GVR.Group, resource: r.GVR.Resource}
		var missing []string
		for _, verb := range manage {
			offered := len(r.Verbs) == 0 || slices.Contains(r.Verbs, verb)
			allowed := allows(unnamed(review.Status.ResourceRules, verb), n, verb)
			if offered && !allowed {
				missing = append(missing, verb)
			}
			if slices.Contains(writes, verb) {
				written = written || allowed
			} else {
				out.ReadOnly = out.ReadOnly || allowed
			}
		}
		if n.verbs = missing; len(missing) > 0 {
			out.Missing = append(out.Missing, n)
		}
	}
	out.ReadOnly = out.ReadOnly && !written
	slices.SortFunc(out.Missing, func(a, b need) int { return strings.Compare(a.name(), b.name()) })
	return out, nil
}

// MissingRights are resources with the verbs that are not granted.
type MissingRights []need

// String joins the rights in one phrase: "create, patch configmaps, services; list events".
func (m MissingRights) String() string {
	kinds := map[string][]string{}
	var order []string
	for _, n := range m {
		verbs := strings.Join(n.verbs, ", ")
		if kinds[verbs] == nil {
			order = append(order, verbs)
		}
		if !slices.Contains(kinds[verbs], n.name()) {
			kinds[verbs] = append(kinds[verbs], n.name())
		}
	}
	parts := make([]string, len(order))
	for i, verbs := range order {
		parts[i] = verbs + " " + strings.Join(kinds[verbs], ", ")
	}
	return strings.Join(parts, "; ")
}

// rulesAge bounds the age of a prefetched answer.
const rulesAge = 10 * time.Second

// rulesAhead are prefetched rules by namespace.
type rulesAhead struct {
	mu          sync.Mutex
	byNamespace map[string]*askedRules
}

type askedRules struct {
	at   time.Time
	wait func() (*authorizationv1.SelfSubjectRulesReview, error)
}

// AskRights starts a request for the rights of the credentials in a namespace. The next call of
// Rights for the namespace takes the answer.
func (c *Client) AskRights(ctx context.Context, namespace string) {
	c.ahead.mu.Lock()
	defer c.ahead.mu.Unlock()
	if had := c.ahead.byNamespace[namespace]; had != nil && time.Since(had.at) < rulesAge {
		return
	}
	if c.ahead.byNamespace == nil {
		c.ahead.byNamespace = map[string]*askedRules{}
	}
	asked := &askedRules{at: time.Now(), wait: sync.OnceValues(func() (*authorizationv1.SelfSubjectRulesReview, error) { return c.rules(ctx, namespace) })}
	c.ahead.byNamespace[namespace] = asked
	go func() { _, _ = asked.wait() }()
}

// askedRules takes the prefetched answer if it is recent, else it asks.
func (c *Client) askedRules(ctx context.Context, namespace string) (*authorizationv1.SelfSubjectRulesReview, error) {
	c.ahead.mu.Lock()
	asked := c.ahead.byNamespace[namespace]
	delete(c.ahead.byNamespace, namespace)
	c.ahead.mu.Unlock()
	if asked != nil && time.Since(asked.at) < rulesAge {
		if review, err := asked.wait(); err == nil {
			return review, nil
		}
	}
	return c.rules(ctx, namespace)
}

// writes are the verbs that change something.
var writes = []string{"create", "patch", "delete"}

// unnamed removes the names of objects from rules, if the verb addresses single objects: the names
// may belong to objects of the instance.
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

// rules reads the rights of the credentials in a namespace, those in the whole cluster included.
func (c *Client) rules(ctx context.Context, namespace string) (*authorizationv1.SelfSubjectRulesReview, error) {
	review := &authorizationv1.SelfSubjectRulesReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectRulesReview"},
		Spec:     authorizationv1.SelfSubjectRulesReviewSpec{Namespace: namespace},
	}
	return review, c.review(ctx, "selfsubjectrulesreviews", review)
}
