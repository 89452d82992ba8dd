package heat

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
)

// resourcesOf reads resources as Heat lists them.
func resourcesOf(t *testing.T, text string) []openstack.StackResource {
	t.Helper()
	var out []openstack.StackResource
	require.NoError(t, json.Unmarshal([]byte(text), &out))
	return out
}

func TestCulprits(t *testing.T) {
	t.Parallel()
	const (
		top    = `"links": [{"rel": "stack", "href": "http://heat/v1/p/stacks/vnf/top"}]`
		nested = `"links": [{"rel": "stack", "href": "http://heat/v1/p/stacks/vnf-FW-0/inner"}]`
	)
	member := `{"resource_name": "FW-0", "resource_type": "FW.yaml", "physical_resource_id": "inner", "resource_status": "UPDATE_FAILED", "updated_time": "2026-01-01T10:05:01Z", ` + top + `}`
	other := `{"resource_name": "TG-0", "resource_type": "TG.yaml", "physical_resource_id": "i2", "resource_status": "UPDATE_COMPLETE", "updated_time": "2026-01-01T10:05:01Z", ` + top + `}`
	server := func(at string) string {
		return `{"resource_name": "FW", "resource_type": "OS::Nova::Server", "physical_resource_id": "s1", "resource_status": "CREATE_FAILED", "updated_time": "` + at + `", ` + nested + `}`
	}
	for name, test := range map[string]struct {
		updated, resources string
		want               []string
	}{
		"the one below":               {"2026-01-01T10:05:00Z", member + "," + other + "," + server("2026-01-01T10:05:02Z"), []string{"FW"}},
		"the one above fails itself":  {"2026-01-01T10:05:00Z", member + "," + other + "," + server("2026-01-01T10:01:00Z"), []string{"FW-0"}},
		"a creation":                  {"", member + "," + server("2026-01-01T10:01:00Z"), []string{"FW"}},
		"nothing has failed since":    {"2026-01-01T10:06:00Z", member + "," + server("2026-01-01T10:01:00Z"), []string{"FW"}},
		"nothing has failed that way": {"2026-01-01T10:05:00Z", other, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stack openstack.Stack
			text := `{"updated_time": null}`
			if test.updated != "" {
				text = `{"updated_time": "` + test.updated + `"}`
			}
			require.NoError(t, json.Unmarshal([]byte(text), &stack))
			var got []string
			for _, r := range culprits(&stack, resourcesOf(t, "["+test.resources+"]")) {
				got = append(got, r.Name)
			}
			assert.True(t, slices.Equal(got, test.want), "%v, want %v", got, test.want)
		})
	}
}

func TestLowest(t *testing.T) {
	t.Parallel()
	resources := resourcesOf(t, `[
		{"resource_name": "FW-0", "physical_resource_id": "inner", "resource_status": "UPDATE_IN_PROGRESS", "links": [{"rel": "stack", "href": "http://heat/v1/p/stacks/vnf/top"}]},
		{"resource_name": "FW", "physical_resource_id": "s1", "resource_status": "CREATE_COMPLETE", "links": [{"rel": "stack", "href": "http://heat/v1/p/stacks/vnf-FW-0/inner"}]}
	]`)
	names := func(status string) []string {
		var out []string
		for _, r := range lowest(resources, func(r *openstack.StackResource) bool { return r.Status == status }) {
			out = append(out, r.Name)
		}
		return out
	}
	// The cause is reported as long as its consequences are not.
	assert.Equal(t, []string{"FW-0"}, names("UPDATE_IN_PROGRESS"), "the stack alone")
	resources[1].Status = "UPDATE_IN_PROGRESS"
	assert.Equal(t, []string{"FW"}, names("UPDATE_IN_PROGRESS"), "a server in it")
}

// TestRetries asks again for what is in use as long as the tries last, and once for a token.
func TestRetries(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var r retries
	require.False(t, r.next(t.Context(), ""))
	require.True(t, r.next(t.Context(), reasonToken))
	require.False(t, r.next(t.Context(), reasonToken))
	require.True(t, r.next(t.Context(), reasonInUse))
	require.False(t, r.next(ended, reasonInUse))
	r.inUse = inUseTries
	require.False(t, r.next(t.Context(), reasonInUse))

	// A termination goes on until its time is over.
	soon, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	synctest.Test(t, func(t *testing.T) {
		r := retries{inUse: 100, untilEnd: true}
		began := time.Now()
		require.True(t, r.next(t.Context(), reasonInUse))
		require.Equal(t, inUseLongest, time.Since(began))
	})
	r = retries{inUse: 100, untilEnd: true}
	require.False(t, r.next(soon, reasonInUse))
}

func TestInUse(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]bool{
		"Conflict: resources.FW: Port 2ba73092 is still in use. (HTTP 409)":                                                             true,
		"Conflict: resources.net: Unable to complete operation on network 1f. There are one or more ports still in use on the network.": true,
		"Conflict: resources.sub: Unable to complete operation on subnet 2a: One or more ports have an IP allocation from this subnet.": true,
		"BadRequest: resources.fip: Bad floatingip request: Port 3b requires a FixedIP in order to be used.":                            true,
		"ResourceInError: resources.FW: Went to status ERROR":                                                                           false,
		"Conflict: resources.port: Unable to complete operation for network 4c. The IP address 192.0.2.7 is in use.":                    false,
	} {
		failed := &stackError{stack: &openstack.Stack{}, reasons: []string{"OS::Nova::Server FW-0/FW is CREATE_FAILED: " + reason}}
		assert.Equal(t, want, inUse(failed), "%s", reason)
	}
}
