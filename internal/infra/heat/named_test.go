package heat_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// stacksCloud is a cloud with the stacks "mine", of nobody, and "taken", of another instance; changed tells of requests that change one.
func stacksCloud(t *testing.T) (cloud *cloudtest.Cloud, changed func() []string) {
	t.Helper()
	cloud = cloudtest.New(t)
	cloud.Offer("orchestration", "/heat/v1/"+cloudtest.ProjectID)
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		body := `{"Description": "", "Parameters": {}}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/validate"):
		case strings.HasSuffix(r.URL.Path, "/stacks") && r.Method == http.MethodGet:
			body = map[string]string{
				"mine":  `{"stacks": [{"id": "s-1", "stack_name": "mine", "stack_status": "CREATE_COMPLETE", "tags": ["a"]}]}`,
				"taken": `{"stacks": [{"id": "s-2", "stack_name": "taken", "stack_status": "CREATE_COMPLETE", "tags": ["vnf-instance:x", "vnf-instance-id:i-2"]}]}`,
			}[r.URL.Query().Get("name")]
			if body == "" {
				body = `{"stacks": []}`
			}
		default:
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
		return true
	})
	return cloud, func() (out []string) {
		for _, r := range cloud.Requests() {
			if strings.Contains(r, "/heat/") && !strings.HasPrefix(r, "GET ") && !strings.HasSuffix(r, "/validate") {
				out = append(out, r)
			}
		}
		return out
	}
}

// TestNamedStack: an instance takes over no stack of another one, and none of nobody unless it is told to; it removes none that is not its own.
func TestNamedStack(t *testing.T) {
	t.Parallel()
	cloud, changed := stacksCloud(t)
	driver := heat.New(openstack.NewPool("test/1"))
	for name, c := range map[string]struct {
		name      any
		adopt     bool
		inventory []vnfm.InventoryItem
		want      string
	}{
		"of nobody":            {"mine", false, nil, `stack mine (s-1) on VIM "cloud" belongs to no VNF instance`},
		"of nobody, adopted":   {"mine", true, nil, ""},
		"of another instance":  {"taken", true, nil, `stack taken (s-2) on VIM "cloud" belongs to VNF instance i-2`},
		"free":                 {"free", false, nil, ""},
		"its own":              {"mine", false, []vnfm.InventoryItem{{Type: vnfm.InventoryStack, Name: "mine", UID: "s-1"}}, ""},
		"another one than now": {"free", true, []vnfm.InventoryItem{{Type: vnfm.InventoryStack, Name: "mine", UID: "s-1"}}, "cannot be changed: the stack of the instance is mine"},
		"no text":              {1, true, nil, "must be a name that Heat takes"},
		"no name":              {"-x", true, nil, "must be a name that Heat takes"},
		"reserved":             {"vnf-x", true, nil, "must not begin with vnf-"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := dryRunTarget(cloud, "resources: { FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros } } }")
			target.Instance.AdditionalParams = map[string]any{heat.ParamStackName: c.name}
			target.Instance.Inventory, target.AdoptExisting = c.inventory, c.adopt
			problems, err := driver.DryRun(t.Context(), target, []string{"stack"})
			if err == nil {
				err = problems.Err()
			}
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			target.Instance.ID = "i-1"
			require.Error(t, driver.Apply(t.Context(), target, nil), "the stack was applied")
			if c.inventory == nil && strings.Contains(c.want, "belongs") {
				require.NoError(t, driver.Terminate(t.Context(), target, vnfm.TerminateSpec{Type: vnfm.Forceful}, nil))
			}
			require.Empty(t, changed())
		})
	}
}

// TestKeptTemplate: an instance whose stack is given a name has the resources as the template names them, and one VNFC of each.
func TestKeptTemplate(t *testing.T) {
	t.Parallel()
	cloud, _ := stacksCloud(t)
	driver := heat.New(openstack.NewPool("test/1"))
	target := dryRunTarget(cloud, "resources: { FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros } }, "+
		"ip: { type: OS::Nova::FloatingIPAssociation, properties: { server_id: { get_resource: FW } } } }")
	target.Instance.AdditionalParams = map[string]any{heat.ParamStackName: "site"}
	rendered, problems := driver.Render(t.Context(), target)
	require.NoError(t, problems.Err())
	for _, text := range rendered.Contents {
		require.Contains(t, text, "    FW:\n")
		require.NotContains(t, text, "FW-0")
	}
	target.Counts = map[string]int{"FW": 2}
	_, problems = driver.Render(t.Context(), target)
	require.ErrorContains(t, problems.Err(), `leaves VDU "FW" with one VNFC, and 2 are asked for`)
}
