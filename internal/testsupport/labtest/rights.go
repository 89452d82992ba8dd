package labtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// VIMToken gives a namespace the accounts and roles of a file in examples/rights and returns a token of one of the accounts, once
// the server knows of the rights.
func (e Env) VIMToken(t testing.TB, namespace, file, account string) string {
	t.Helper()
	example := e.ReadFile(t, Root(t)+"/examples/rights/"+file) + "\n"
	e.apply(t, namespace, strings.ReplaceAll(example, "namespace: core5g\n", "namespace: "+namespace+"\n"))
	for _, resource := range []string{"configmaps", "secrets"} {
		Eventually(t, time.Minute, "the rights of "+account, func() error { return e.mayList(t, namespace, account, resource) })
	}
	return e.accountToken(t, namespace, account)
}

// mayList asks the API server whether it knows that a service account may list a resource.
func (e Env) mayList(t testing.TB, namespace, account, resource string) error {
	t.Helper()
	answer, err := e.Server(t).Request(t.Context(), http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", fmt.Sprintf(
		`{"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview","spec":{"user":"system:serviceaccount:%s:%s",
		"resourceAttributes":{"namespace":%q,"verb":"list","resource":%q}}}`, namespace, account, namespace, resource), nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	var review struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&review); err != nil {
		return err
	}
	if !review.Status.Allowed {
		return fmt.Errorf("%s may not list %s yet", account, resource)
	}
	return nil
}

// accountToken returns a token of a service account.
func (e Env) accountToken(t testing.TB, namespace, account string) string {
	t.Helper()
	answer, err := e.Server(t).Request(t.Context(), http.MethodPost, "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+account+"/token",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`, nil)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	var token struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&token))
	require.NotEmpty(t, token.Status.Token)
	return token.Status.Token
}
