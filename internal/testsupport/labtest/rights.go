package labtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// VIMToken gives a namespace the accounts and roles of a file in examples/rights and returns a token of one of the accounts. The
// server learns of the rights a moment later.
func (e Env) VIMToken(t testing.TB, namespace, file, account string) string {
	t.Helper()
	example := e.ReadFile(t, Root(t)+"/examples/rights/"+file) + "\n"
	e.apply(t, namespace, strings.ReplaceAll(example, "namespace: core5g\n", "namespace: "+namespace+"\n"))
	return e.accountToken(t, namespace, account)
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
