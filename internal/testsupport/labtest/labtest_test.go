package labtest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestSecond shows that the second lab is another cluster, and the same one whenever it is asked for.
func TestSecond(t *testing.T) {
	first, second := labtest.Kubernetes(t), labtest.Second(t)
	require.NotEqual(t, second.Endpoint, first.Endpoint)
	require.NotEqual(t, second.AdminToken, first.AdminToken, "both labs are at %s, with one token: %t", first.Endpoint, first.AdminToken == second.AdminToken)
	again := labtest.Second(t)
	assert.Equal(t, second.Endpoint, again.Endpoint, "the second lab is at")
	namespace := second.Namespace(t)
	out := second.Kubectl(t, "get", "namespace", namespace, "-o", "name")
	assert.Equal(t, "namespace/"+namespace, strings.TrimSpace(out), "the second lab says %q of its own namespace", out)
	assert.Empty(t, first.Kubectl(t, "get", "namespace", namespace, "--ignore-not-found", "-o", "name"), "the first lab has a namespace of the second")
}

// TestSecondFaults cuts off the second lab alone, in a test that also has the proxy of the first.
func TestSecondFaults(t *testing.T) {
	first, second := labtest.Kubernetes(t), labtest.Second(t)
	endpoints := map[string]string{"first": first.FaultyEndpoint(t), "second": second.FaultyEndpoint(t)}
	second.Fault(t, "cut")
	for which, endpoint := range endpoints {
		lab := map[string]labtest.Env{"first": first, "second": second}[which]
		_, err := lab.TryKubectl(t.Context(), "--server", endpoint, "get", "--raw", "/readyz")
		assert.Equal(t, (err != nil), which == "second", "the %s lab through its proxy: %v", which, err)
	}
}
