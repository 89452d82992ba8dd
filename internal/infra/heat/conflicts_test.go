package heat_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDryRunOfATakenName: a new instance may not have the name of another one whose stack is there, unless that goes first.
func TestDryRunOfATakenName(t *testing.T) {
	t.Parallel()
	cloud := cloudtest.New(t)
	cloud.Offer("orchestration", "/heat/v1/"+cloudtest.ProjectID)
	cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
		body := `{"Description": "", "Parameters": {}}`
		switch {
		case strings.HasSuffix(r.URL.Path, "/validate"):
		case strings.HasSuffix(r.URL.Path, "/stacks"):
			body = map[string]string{
				"vnf-instance:fw": `{"stacks": [{"id": "s-1", "stack_name": "vnf-theirs", "stack_status": "CREATE_FAILED"},
					{"id": "s-0", "stack_name": "vnf-former", "stack_status": "DELETE_IN_PROGRESS"}]}`,
				"vnf-instance:leaving": `{"stacks": [{"id": "s-2", "stack_name": "vnf-former", "stack_status": "DELETE_IN_PROGRESS"}]}`,
			}[r.URL.Query().Get("tags")]
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
	driver := heat.New(openstack.NewPool("test/1"))
	for name, c := range map[string]struct {
		id, name string
		yields   string
		want     bool
	}{
		"of another instance":      {"", "fw", "", true},
		"beside one that goes":     {"", "fw", "vnf-other", true},
		"of an instance that goes": {"", "fw", "theirs", false},
		"on its way out":           {"", "leaving", "", false},
		"free":                     {"", "fw2", "", false},
		"an update":                {"i-1", "fw", "", false},
		"cut off":                  {"", "fw," + strings.Repeat("x", 80), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := dryRunTarget(cloud, "resources: { FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros } } }")
			target.Instance.ID, target.Instance.Name = c.id, c.name
			target.Yields = func(_ context.Context, id string) bool { return id == c.yields }
			problems, err := driver.DryRun(t.Context(), target, []string{"stack"})
			require.NoError(t, err)
			if !c.want {
				require.Empty(t, problems)
				return
			}
			require.Len(t, problems, 1)
			require.Equal(t, vnfm.SeverityError, problems[0].Severity)
			require.Equal(t, "name", problems[0].Attribute)
			require.Equal(t, `the project of VIM "cloud" has a stack of a VNF instance "fw" already`, problems[0].Summary)
			require.Contains(t, problems[0].Detail, "stack vnf-theirs (s-1, CREATE_FAILED)")
			require.NotContains(t, problems[0].Detail, "former")
		})
	}
}
