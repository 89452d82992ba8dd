package workloadcluster_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

const address = "vnf_capi_workload_cluster.test"

// testEnv is a management cluster, a namespace on it, and a store.
type testEnv struct {
	testing.TB
	lab       labtest.Env
	store     acctest.Store
	namespace string
	// diagnostics, when set, records those of the plans.
	diagnostics *acctest.Diagnostics
}

func newEnv(t *testing.T) *testEnv {
	t.Helper()
	t.Parallel()
	lab := labtest.ClusterAPI(t)
	return &testEnv{TB: t, lab: lab, store: acctest.NewStore(t), namespace: lab.ClusterNamespace(t)}
}

// config returns a configuration with a workload cluster "test" and further parts.
func (env *testEnv) config(arguments string, parts ...string) string {
	return env.store.Config(append([]string{acctest.VIM(env, env.lab, "test"), env.cluster(arguments)}, parts...)...)
}

func (env *testEnv) cluster(arguments string) string {
	return fmt.Sprintf(`
resource "vnf_capi_workload_cluster" "test" {
  management_vim_id = vnf_vim.test.id
  namespace         = %q
  name              = "edge"
%s
}
`, env.namespace, arguments)
}

// inMemory are the arguments of a cluster of the embedded chart that comes up fast.
func inMemory(version, groups string) string {
	return fmt.Sprintf(`
  kubernetes_version = %q
  chart              = { name = "in-memory", values = [yamlencode({ provisioning = { startupDuration = "1s" } })] }
  control_plane      = { replicas = 1 }
  node_groups        = { %s }
`, version, groups)
}

func (env *testEnv) kubectl(args ...string) string {
	env.Helper()
	return strings.TrimSpace(env.lab.Kubectl(env, append([]string{"-n", env.namespace}, args...)...))
}

func (env *testEnv) run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	acctest.PreCheck(t)
	factories := acctest.Factories()
	if env.diagnostics != nil {
		factories = env.diagnostics.Factories()
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		Steps:                    steps,
		CheckDestroy: func(*terraform.State) error {
			left := env.kubectl("get", "clusters,machines,machinedeployments,kubeadmcontrolplanes,devclusters,devmachines", "-o", "name", "--ignore-not-found")
			if left != "" {
				return fmt.Errorf("left on the management cluster: %s", left)
			}
			return nil
		},
	})
}

func planned(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}}
}

func updates() resource.ConfigPlanChecks { return planned(plancheck.ResourceActionUpdate) }

// holdsNoKubeconfig checks that nothing of a kubeconfig is in the state.
func (env *testEnv) holdsNoKubeconfig() resource.TestCheckFunc {
	return func(s *terraform.State) error {
		key := env.kubectl("get", "secret", "edge-kubeconfig", "-o", "go-template={{ .data.value | base64decode }}")
		at := strings.Index(key, "client-key-data: ")
		require.Positive(env, at)
		secret := strings.Fields(key[at:])[1]
		text := fmt.Sprint(s.RootModule().Resources)
		for _, module := range s.Modules {
			for _, r := range module.Resources {
				text += fmt.Sprint(r.Primary.Attributes)
			}
		}
		if strings.Contains(text, secret) || strings.Contains(text, "client-key-data") {
			return fmt.Errorf("the state holds the kubeconfig")
		}
		return nil
	}
}

// file writes a file for a configuration and returns its path.
func (env *testEnv) file(name, text string) string {
	path := env.TempDir() + "/" + name
	require.NoError(env, os.WriteFile(path, []byte(text), 0o600))
	return path
}
