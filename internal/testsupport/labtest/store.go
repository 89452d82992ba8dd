package labtest

import (
	"strings"
	"testing"
)

// StoreToken gives a namespace the accounts and roles of examples/stores/kubernetes/role.yaml and returns a token of one of the
// accounts. The server learns of the rights a moment later.
func (e Env) StoreToken(t testing.TB, namespace, account string) string {
	t.Helper()
	example := strings.NewReplacer("namespace: vnf-store\n", "namespace: "+namespace+"\n", "resourceNames: [vnf-store]", "resourceNames: ["+namespace+"]").
		Replace(e.ReadFile(t, Root(t)+"/examples/stores/kubernetes/role.yaml") + "\n")
	e.apply(t, namespace, example)
	return e.accountToken(t, namespace, account)
}
