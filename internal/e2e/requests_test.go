//go:build unix

package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// TestAccRequests runs a life cycle and checks what the server answered: what
// the provider did not expect would show there, such as a kind that was asked for
// before it was served.
func TestAccRequests(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.configure(acctest.ExamplePackage(t, "core5g"))
	env.apply()
	env.expectEmptyPlan()
	if tried := env.dryRuns(); tried != 0 {
		t.Errorf("%d dry runs for a VIM that was not registered before the apply, and for a plan without a change", tried)
	}
	env.configure(nextRelease(t), `scale_levels = { control-plane = 1 }`)
	env.apply()
	tried := env.dryRuns()
	env.expectEmptyPlan()
	if again := env.dryRuns() - tried; tried == 0 || again != 0 {
		t.Errorf("%d dry runs for a change, and %d for a plan without one", tried, again)
	}
	env.kubectl("delete", "service/amf", "configmap/amf-config")
	env.apply()
	env.expectEmptyPlan()
	env.destroy()
	env.destroyed()
	expected := func(r request) bool {
		switch {
		case r.method == http.MethodGet && r.uri == "/api/v1/namespaces/"+env.namespace:
			return true // does the namespace have to be made?
		case strings.Contains(r.uri, "/coordination.k8s.io/v1/namespaces/"+env.namespace+"/leases"):
			return true // without its namespace there can be no Lease
		case r.method == http.MethodGet && strings.HasPrefix(r.uri, "/api/v1/namespaces/"+env.namespace+"/secrets/vnf-"):
			return true // does the key of the digests have to be kept?
		}
		return false
	}
	// A Job whose template changes is refused first, its creation is tried, and then it is replaced.
	replaced := func(r request) bool {
		refused := r.method == http.MethodPatch && r.status == http.StatusUnprocessableEntity && strings.Contains(r.uri, "/jobs/db-init?")
		tried := r.method == http.MethodPost && r.status == http.StatusConflict && strings.Contains(r.uri, "/jobs?dryRun=All&")
		return refused || tried
	}
	all := env.gateway.requests(0)
	statuses := map[int]int{}
	for _, r := range all {
		statuses[r.status]++
		if r.status >= http.StatusBadRequest && !replaced(r) && (r.status != http.StatusNotFound || !expected(r)) {
			t.Errorf("%s: status %d", r, r.status)
		}
	}
	t.Logf("%d requests, by status: %v", len(all), statuses)
}

// dryRuns counts the dry runs so far.
func (env *testEnv) dryRuns() int {
	n := 0
	for _, r := range env.gateway.requests(0) {
		if strings.Contains(r.uri, "dryRun=All") {
			n++
		}
	}
	return n
}
