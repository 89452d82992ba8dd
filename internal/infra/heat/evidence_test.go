package heat_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestEvidence reads the stack of an inventory for a report, and nothing of a stack that is gone.
func TestEvidence(t *testing.T) {
	t.Parallel()
	cloud := cloudtest.New(t)
	cloud.Offer("orchestration", "/heat/v1/"+cloudtest.ProjectID)
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		var body string
		switch {
		case strings.HasSuffix(r.URL.Path, "/stacks/vnf-fw/s-1"):
			body = `{"stack": {"id": "s-1", "stack_name": "vnf-fw", "stack_status": "CREATE_FAILED", "stack_status_reason": "Resource CREATE failed"}}`
		case strings.HasSuffix(r.URL.Path, "/s-1/resources"):
			body = `{"resources": [{"resource_name": "FW", "resource_type": "OS::Nova::Server", "physical_resource_id": "i-1", "resource_status": "CREATE_FAILED",
				"resource_status_reason": "No valid host was found"}, {"resource_name": "NET", "resource_type": "OS::Neutron::Net", "resource_status": "CREATE_COMPLETE"}]}`
		case strings.HasSuffix(r.URL.Path, "/s-1/events"):
			body = `{"events": [{"id": "e", "event_time": "2026-11-26T08:00:00Z", "resource_name": "FW", "resource_status": "CREATE_FAILED", "resource_status_reason": "No valid host"}]}`
		default:
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
		return true
	})
	target := dryRunTarget(cloud, "resources: {}")
	got := heat.New(openstack.NewPool("test/1")).Evidence(t.Context(), target.VIM, target.Credentials, []vnfm.InventoryItem{
		{Type: vnfm.InventoryStack, Name: "vnf-fw", UID: "s-1"}, {Type: vnfm.InventoryStack, Name: "vnf-gone", UID: "s-2"}, {Name: "other"},
	})
	require.Len(t, got, 1)
	for _, text := range []string{
		"stack vnf-fw (s-1): CREATE_FAILED: Resource CREATE failed", "resource FW (OS::Nova::Server i-1): CREATE_FAILED: No valid host was found",
		"event 2026-11-26T08:00:00Z FW: CREATE_FAILED: No valid host",
	} {
		assert.Contains(t, got[0].Text, text)
	}
}
