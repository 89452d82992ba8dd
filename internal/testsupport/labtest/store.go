package labtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// StoreToken gives a namespace the accounts and roles of examples/stores/kubernetes/role.yaml and returns a token of one of the
// accounts. The server learns of the rights a moment later.
func (e Env) StoreToken(t testing.TB, namespace, account string) string {
	t.Helper()
	example := strings.NewReplacer("namespace: vnf-store\n", "namespace: "+namespace+"\n", "resourceNames: [vnf-store]", "resourceNames: ["+namespace+"]").
		Replace(e.ReadFile(t, Root(t)+"/examples/stores/kubernetes/role.yaml") + "\n")
	e.apply(t, namespace, example)
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
