package instance_test

import (
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// TestAccInstance_tackerPackage runs a package of Tacker's shape as it is: a request picks some of its manifests, puts what they scatter
// over namespaces into one, and has parameters of all kinds of infrastructure; hooks name Python classes, and reviews are posted. Then
// it picks another manifest.
func TestAccInstance_tackerPackage(t *testing.T) {
	env := newEnv(t)
	source, err := filepath.Abs(filepath.Join("testdata", "tacker"))
	require.NoError(t, err)
	config := func(files, arguments string) string {
		return env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(source), env.instanceWith("namespace = null", arguments, `additional_params = {
			namespace                = "`+env.namespace+`"
			lcm-kubernetes-def-files = [`+files+`]
			upgrade_type             = "RollingUpdate"
			lcm-operation-user-data  = "./UserData/routes.py"
			nfv                      = { VDU = {} }
		}`))
	}
	const skip, first = `unknown_management_drivers = "skip"`, `"Files/kubernetes/deployment.yaml", "Files/kubernetes/configmap.yaml", "Files/kubernetes/reviews.yaml"`
	env.run(t,
		resource.TestStep{
			Config: config(first+`, "Files/kubernetes/none.yaml"`, ""), PlanOnly: true,
			ExpectError: acctest.Says(`(?s)names management drivers that are not known: "mgmt-drivers-count" for scale_end; "mgmt-drivers-notify" for instantiate_end, terminate_start` +
				`.*names a file that is not in the package`),
		},
		resource.TestStep{
			PreConfig: env.diagnostics.Discard,
			Config:    config(first, skip),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts"), counts("VDU1", 1, "VDU2", 0, "VDU3", 0)),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("registered_vim_id"), knownvalue.Null()),
				plansObjects(5),
			}},
			ConfigStateChecks: []statecheck.StateCheck{
				instantiated(), value("namespace", knownvalue.StringExact(env.namespace)),
			},
			Check: allChecks(env.checkBackend(),
				env.diagnostics.HasWarning(`(?s)picks no workload for VDUs "VDU2", "VDU3"`+
					`.*moves objects to namespace `+env.namespace+`: v1/ServiceAccount routes-one/routes, apps/v1/Deployment routes-one/vdu1, v1/ConfigMap routes-two/routes`+
					`.*[Hh]ooks of the VNFD are skipped`),
				env.expectKubectl("1", "get", "deployment", "vdu1", "-o", "jsonpath={.status.readyReplicas}")),
		},
		resource.TestStep{
			Config:           config(first+`, "Files/kubernetes/second.yaml"`, skip),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts"), counts("VDU1", 1, "VDU2", 1, "VDU3", 0))}},
			Check: allChecks(env.checkBackend(), env.diagnostics.HasWarning(`ignores additional parameters "lcm-operation-user-data", "nfv", "upgrade_type"`),
				env.expectKubectl("1", "get", "deployment", "vdu2", "-o", "jsonpath={.status.readyReplicas}")),
		},
	)
}
