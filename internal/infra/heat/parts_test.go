package heat

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

// TestLost: ports, floating addresses and attachments of volumes that are gone are drift of the stack. A server that is replaced takes its
// attachments with it, and what Heat knows to have failed is listed with its status.
func TestLost(t *testing.T) {
	t.Parallel()
	resource := func(name, kind, id, stack string) string {
		return fmt.Sprintf(`{"resource_name": %q, "resource_type": %q, "physical_resource_id": %q, "resource_status": "CREATE_COMPLETE", "required_by": ["FW_att"],
			"links": [{"rel": "stack", "href": "http://heat/v1/p/stacks/vnf/%s"}]}`, name, kind, id, stack)
	}
	all := []string{
		resource("FW-0", "FW.yaml", "inner", "top"), resource("FW", serverType, "s1", "inner"), resource("FW_CP1", portType, "p1", "inner"),
		resource("FW_att", attachmentType, "v1", "inner"), resource("FW_FIP", floatingIPType, "f1", "top"), resource("not made", portType, "", "top"),
	}
	text := "["
	for i, r := range all {
		if i > 0 {
			text += ","
		}
		text += r
	}
	attached := []string{"v1"}
	server := func(status string, volumes []string) *openstack.Server {
		out := &openstack.Server{ID: "s1", Status: status}
		for _, id := range volumes {
			out.Volumes = append(out.Volumes, struct {
				ID string `json:"id"`
			}{id})
		}
		return out
	}
	for name, tt := range map[string]struct {
		server          *openstack.Server
		ports, floating []string
		want            string
	}{
		"all there":           {server(openstack.ServerActive, attached), []string{"p1"}, []string{"f1"}, ""},
		"off":                 {server(openstack.ServerShutoff, attached), []string{"p1"}, []string{"f1"}, ""},
		"port":                {server(openstack.ServerActive, attached), nil, []string{"f1"}, "FW-0/FW_CP1 no longer exists"},
		"address":             {server(openstack.ServerActive, attached), []string{"p1"}, nil, "FW_FIP no longer exists"},
		"volume":              {server(openstack.ServerActive, nil), []string{"p1"}, []string{"f1"}, "FW-0/FW_att is not attached any more"},
		"volume of a replace": {server(openstack.ServerError, nil), []string{"p1"}, []string{"f1"}, ""},
		"volume of none":      {nil, []string{"p1"}, []string{"f1"}, ""},
	} {
		l := &live{
			stack: &openstack.Stack{ID: "top", Status: "CREATE_COMPLETE"}, noted: true, resources: resourcesOf(t, text+"]"),
			servers: map[string]*openstack.Server{}, ports: map[string]*openstack.Port{}, floating: map[string]*openstack.FloatingIP{},
		}
		if tt.server != nil {
			l.servers["s1"] = tt.server
		}
		for _, id := range tt.ports {
			l.ports[id] = &openstack.Port{ID: id}
		}
		for _, id := range tt.floating {
			l.floating[id] = &openstack.FloatingIP{ID: id}
		}
		require.Equal(t, tt.want, l.state(), name)
	}
	l := &live{stack: &openstack.Stack{ID: "top", Status: "CREATE_COMPLETE"}, noted: true, resources: resourcesOf(t, text+"]")}
	for i := range l.resources {
		l.resources[i].Status = "CHECK_FAILED"
	}
	require.NotContains(t, l.state(), "exists")
}
