package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// The oldest supported release: the drivers rely on its server-side apply and field validation.
const (
	minMajor = 1
	minMinor = 25
)

// need is a right that the drivers use in the namespaces of instances.
type need struct {
	group, resource, subresource string
	verbs                        []string
}

// name returns the resource in the form of kubectl auth can-i.
func (n need) name() string {
	name := n.resource
	if n.group != "" {
		name += "." + n.group
	}
	if n.subresource != "" {
		name += "/" + n.subresource
	}
	return name
}

var (
	manage = []string{"get", "list", "watch", "create", "patch", "delete"}
	needs  = []need{
		{"apps", "deployments", "", manage},
		{"apps", "statefulsets", "", manage},
		{"apps", "replicasets", "", []string{"list"}},
		{"apps", "deployments", "scale", []string{"patch"}},
		{"", "services", "", manage},
		{"", "configmaps", "", manage},
		{"", "secrets", "", manage},
		{"", "pods", "", []string{"get", "list", "delete"}},
		{"", "pods", "log", []string{"get"}},
		{"", "events", "", []string{"list"}},
		{"coordination.k8s.io", "leases", "", []string{"get", "create", "update", "delete"}},
	}
)

// Check reads the version of the API server, its API groups and the rights of the credentials, all
// concurrently. A server that does not answer is a *vnfm.UnreachableError, rejected credentials are
// a *CredentialsError, a server before 1.25 is an error. An error of /version takes precedence.
// Rights missing in the default namespace of the VIM are a warning; without a default namespace,
// each plan checks the rights in the namespace of its instance.
func (c *Client) Check(ctx context.Context) (vnfm.VIMCheck, error) {
	check := vnfm.VIMCheck{Endpoint: c.endpoint.String()}
	quick := c.retry.once()
	namespace := cmp.Or(c.namespace, "default")
	var (
		missing              MissingRights
		rightsErr, groupsErr error
		others               sync.WaitGroup
		beside, endOthers    = context.WithCancel(ctx)
	)
	defer others.Wait()
	defer endOthers()
	// /version may be open to anonymous users: only the reviews prove that the credentials work.
	others.Go(func() { missing, rightsErr = c.missingRights(beside, namespace) })
	others.Go(func() { check.APIGroups, groupsErr = c.GroupVersions(beside) })
	version, err := c.version(ctx, &quick)
	if err != nil {
		return vnfm.VIMCheck{Endpoint: check.Endpoint}, err
	}
	if tooOld(version.Major, version.Minor) {
		return vnfm.VIMCheck{Endpoint: check.Endpoint, ServerVersion: version.GitVersion}, fmt.Errorf("checking VIM %q: the API server at %s has version %s, but at least %d.%d is needed", c.vim, c.endpoint, version.GitVersion, minMajor, minMinor)
	}
	others.Wait()
	check.ServerVersion = version.GitVersion
	if rightsErr != nil {
		return check, rightsErr
	}
	if len(missing) > 0 && c.namespace != "" {
		check.Problems = append(check.Problems, c.missingRightsProblem(missing, namespace))
	}
	return check, groupsErr
}

// missingRightsProblem reports all missing rights as one problem, because one Role grants them all.
func (c *Client) missingRightsProblem(missing MissingRights, namespace string) vnfm.Problem {
	return vnfm.Problem{
		Severity: vnfm.SeverityWarning,
		Summary:  fmt.Sprintf("the credentials of VIM %q lack rights in the namespace %s", c.vim, namespace),
		Detail:   "They may not " + missing.String() + ". Apply the Role of `examples/rights/kubernetes.yaml` in this namespace.",
	}
}

// serverVersion has the used fields of the answer to /version.
type serverVersion struct {
	Major      string `json:"major"`
	Minor      string `json:"minor"`
	GitVersion string `json:"gitVersion"`
}

func (c *Client) version(ctx context.Context, policy *retryPolicy) (v serverVersion, err error) {
	res, err := c.do(ctx, request{
		doing: "checking", object: "the API server",
		method: http.MethodGet, path: "/version", policy: policy,
	})
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(res.body, &v); err != nil || v.GitVersion == "" {
		return v, fmt.Errorf("checking VIM %q: %s does not answer like a Kubernetes API server: its /version has no gitVersion", c.vim, c.endpoint)
	}
	return v, nil
}

// ServerVersion returns the API server's current version of Kubernetes.
func (c *Client) ServerVersion(ctx context.Context) (string, error) {
	v, err := c.version(ctx, nil)
	return v.GitVersion, err
}

var namespaceResource = Resource{
	GVK: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"},
	GVR: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"},
}

// ClusterUID returns the UID of the namespace kube-system, or "" if the credentials may not read
// it.
func (c *Client) ClusterUID(ctx context.Context) (string, error) {
	obj, err := c.Get(ctx, Ref{Resource: namespaceResource, Name: metav1.NamespaceSystem})
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return string(obj.GetUID()), nil
}

// tooOld compares numbers like "1" and "27+". A version without numbers is accepted.
func tooOld(major, minor string) bool {
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(strings.TrimRight(minor, "+"))
	if errA != nil || errB != nil {
		return false
	}
	return a < minMajor || a == minMajor && b < minMinor
}

// missingRights reads all rules of the namespace with one request. If the authorizer cannot list
// all its rules, each right missing from the list takes one more request.
func (c *Client) missingRights(ctx context.Context, namespace string) (MissingRights, error) {
	review, err := c.rules(ctx, namespace)
	if err != nil {
		return nil, err
	}
	var missing MissingRights
	for _, n := range needs {
		var verbs []string
		for _, verb := range n.verbs {
			if allows(review.Status.ResourceRules, n, verb) {
				continue
			}
			if review.Status.Incomplete {
				allowed, err := c.isAllowed(ctx, namespace, n, verb)
				if err != nil {
					return nil, err
				}
				if allowed {
					continue
				}
			}
			verbs = append(verbs, verb)
		}
		if len(verbs) > 0 {
			n.verbs = verbs
			missing = append(missing, n)
		}
	}
	return missing, nil
}

func allows(rules []authorizationv1.ResourceRule, n need, verb string) bool {
	resource := n.resource
	if n.subresource != "" {
		resource += "/" + n.subresource
	}
	for _, r := range rules {
		if len(r.ResourceNames) == 0 && has(r.Verbs, verb) && has(r.APIGroups, n.group) &&
			(has(r.Resources, resource) || n.subresource != "" && slices.Contains(r.Resources, "*/"+n.subresource)) {
			return true
		}
	}
	return false
}

func has(list []string, want string) bool {
	return slices.Contains(list, want) || slices.Contains(list, "*")
}

func (c *Client) isAllowed(ctx context.Context, namespace string, n need, verb string) (bool, error) {
	review := authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: n.group, Resource: n.resource, Subresource: n.subresource,
		}},
	}
	if err := c.review(ctx, "selfsubjectaccessreviews", &review); err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

func (c *Client) review(ctx context.Context, resource string, review any) error {
	body, err := json.Marshal(review)
	if err != nil {
		return fmt.Errorf("encoding a review of the rights: %w", err)
	}
	res, err := c.do(ctx, request{
		doing: "asking for", object: fmt.Sprintf("the rights on VIM %q", c.vim),
		method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/" + resource, contentType: jsonType, body: body,
	})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(res.body, review); err != nil {
		return fmt.Errorf("reading the rights on VIM %q: %w", c.vim, err)
	}
	return nil
}
