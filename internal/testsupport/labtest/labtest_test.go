package labtest_test

import (
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestSecond shows that the second lab is another cluster, and the same one whenever it is asked for.
func TestSecond(t *testing.T) {
	first, second := labtest.Kubernetes(t), labtest.Second(t)
	if first.Endpoint == second.Endpoint || first.AdminToken == second.AdminToken {
		t.Fatalf("both labs are at %s, with one token: %t", first.Endpoint, first.AdminToken == second.AdminToken)
	}
	if again := labtest.Second(t); again.Endpoint != second.Endpoint {
		t.Errorf("the second lab is at %s, then at %s", second.Endpoint, again.Endpoint)
	}
	namespace := second.Namespace(t)
	if out := second.Kubectl(t, "get", "namespace", namespace, "-o", "name"); strings.TrimSpace(out) != "namespace/"+namespace {
		t.Errorf("the second lab says %q of its own namespace", out)
	}
	if out := first.Kubectl(t, "get", "namespace", namespace, "--ignore-not-found", "-o", "name"); out != "" {
		t.Errorf("the first lab has a namespace of the second: %s", out)
	}
}

// TestSecondFaults cuts off the second lab alone, in a test that also has the proxy of the first.
func TestSecondFaults(t *testing.T) {
	first, second := labtest.Kubernetes(t), labtest.Second(t)
	endpoints := map[string]string{"first": first.FaultyEndpoint(t), "second": second.FaultyEndpoint(t)}
	second.Fault(t, "cut")
	for which, endpoint := range endpoints {
		lab := map[string]labtest.Env{"first": first, "second": second}[which]
		_, err := lab.TryKubectl(t.Context(), "--server", endpoint, "get", "--raw", "/readyz")
		if cut := which == "second"; cut != (err != nil) {
			t.Errorf("the %s lab through its proxy: %v", which, err)
		}
	}
}
