package heat_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/infra/heat"
	"github.com/nfv-iac/terraform-provider-vnf/internal/openstack"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/cloudtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestDryRunOfReader: a user with the role reader may not have Heat validate a template, which is no error of the plan.
func TestDryRunOfReader(t *testing.T) {
	t.Parallel()
	cloud := cloudtest.New(t)
	cloud.Offer("orchestration", "/heat/v1/"+cloudtest.ProjectID)
	answer := func(code int, body string) {
		cloud.Refuse(func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/validate") {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = w.Write([]byte(body))
			return true
		})
	}
	target := dryRunTarget(cloud, "resources: { FW: { type: OS::Nova::Server, properties: { flavor: m1.small, image: cirros } } }")
	driver := heat.New(openstack.NewPool("test/1"))

	answer(http.StatusOK, `{"Description": "", "Parameters": {}}`)
	problems, err := driver.DryRun(t.Context(), target, []string{"stack"})
	require.NoError(t, err)
	require.Empty(t, problems)

	answer(http.StatusForbidden, `{"explanation": "Access was denied to this resource.", "code": 403, "error": {"message": "You are not authorized to use stacks:validate_template.", "traceback": null, "type": "Forbidden"}, "title": "Forbidden"}`)
	problems, err = driver.DryRun(t.Context(), target, []string{"stack"})
	require.Empty(t, problems)
	require.ErrorContains(t, err, "stacks:validate_template")
	require.True(t, vnfm.LacksRightsOnly(err), "%v", err)
}

// dryRunTarget is a VNF of one server on a cloud, with a template after its first line.
func dryRunTarget(cloud *cloudtest.Cloud, resources string) *vnfm.Target {
	const template = "BaseHOT/simple/top.yaml"
	return &vnfm.Target{
		Instance: &vnfm.Instance{ID: "i-1", Name: "fw", OperationalState: vnfm.Started},
		Package: &vnfm.Package{
			Name: "fw", Descriptor: &vnfm.Descriptor{ID: "vnfd-1"}, Files: []vnfm.PackageFile{{Path: template}},
			Content: fstest.MapFS{template: {Data: []byte("heat_template_version: wallaby\n" + resources + "\n")}},
		},
		Flavour:     &vnfm.Flavour{ID: "simple", VDUs: []vnfm.VDU{{ID: "FW", Name: "FW"}}, ConnectionPoints: []vnfm.ConnectionPoint{{ID: "CP1", VDUID: "FW", External: true}}},
		Counts:      map[string]int{"FW": 1},
		VIM:         &vnfm.VIM{Name: "cloud", Type: vnfm.VIMTypeOpenStack, OpenStack: &vnfm.OpenStackConnection{AuthURL: cloud.URL, Username: "nfv_user", ProjectName: cloudtest.Project}},
		Credentials: vnfm.Credentials{vnfm.CredentialPassword: "devstack"},
	}
}
