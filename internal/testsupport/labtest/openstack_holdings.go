package labtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Holdings are what the project of a user of NewProject holds, as the user sees it: servers, volumes,
// ports, networks, routers, floating addresses, security groups and, in a lab with Octavia, load balancers, and the application
// credentials of the user, each as its kind and its name. What every project has is left out, as is what is shared.
func (e OpenStackEnv) Holdings(t testing.TB, user OpenStackUser) []string {
	t.Helper()
	type object struct {
		Name    string `json:"name"`
		Address string `json:"floating_ip_address"`
		Project string `json:"project_id"`
	}
	client := e.login(t, user)
	var found []string
	for _, list := range []struct{ service, path, key string }{
		{"compute", "/servers", "servers"},
		{"block-storage", "/volumes", "volumes"},
		{"network", "/v2.0/ports", "ports"},
		{"network", "/v2.0/networks", "networks"},
		{"network", "/v2.0/routers", "routers"},
		{"network", "/v2.0/security-groups", "security_groups"},
		{"network", "/v2.0/floatingips", "floatingips"},
		{"load-balancer", "/v2.0/lbaas/loadbalancers", "loadbalancers"},
		{"", "/users/" + user.ID + "/application_credentials", "application_credentials"},
	} {
		if client.base = e.AuthURL; list.service != "" {
			client.base = e.Endpoints[list.service]
		}
		if client.base == "" {
			continue
		}
		var answer map[string]json.RawMessage
		client.call(t, http.MethodGet, list.path, nil, &answer)
		var objects []object
		require.NoError(t, json.Unmarshal(answer[list.key], &objects), "reading the %s of project %s", list.key, user.Project)
		for _, o := range objects {
			shared := o.Project != "" && o.Project != user.projectID
			if !shared && (list.key != "security_groups" || o.Name != "default") {
				found = append(found, list.key+" "+o.Name+o.Address)
			}
		}
	}
	slices.Sort(found)
	return found
}
