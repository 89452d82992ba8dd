package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// TestAccInstance_connections places the user plane of a 5G core on a VIM of its
// own and leads both parts through their life, until it comes home again.
func TestAccInstance_connections(t *testing.T) {
	env := newEnv(t)
	far := env.lab.Namespace(t)
	vims := acctest.VIM(env, env.lab, "test") + strings.ReplaceAll(strings.Replace(acctest.VIM(env, env.lab, "test"), `"vnf_vim" "test"`, `"vnf_vim" "far"`, 1), `= "test"`, `= "far"`)
	config := func(arguments ...string) string {
		return env.store.Config(vims, pkg(examplePackage(t, "core5g")), env.instance(arguments...), lookups)
	}
	placed := fmt.Sprintf(`vim_connections = { edge = { vim_id = vnf_vim.far.id, namespace = %q, vdu_ids = ["upf"] } }`, far)
	kubectlSecond := func(args ...string) string {
		return strings.TrimSpace(env.lab.Kubectl(t, append([]string{"-n", far}, args...)...))
	}
	// parts checks what is in both places.
	parts := func(edge string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			const kinds = "statefulsets,deployments"
			if got := strings.Join(strings.Fields(kubectlSecond("get", kinds, "-o", "name")), " "); got != edge {
				return fmt.Errorf("on the further VIM: %q, want %q", got, edge)
			}
			if both := env.kubectl("get", kinds, "-o", "name"); strings.Contains(both, "upf") == (edge != "") || !strings.Contains(both, "amf") {
				return fmt.Errorf("on the instance's own VIM: %s", both)
			}
			return nil
		}
	}
	same := fmt.Sprintf(`vim_connections = { edge = { vim_id = vnf_vim.test.id, namespace = %q, vdu_ids = ["upf"] } }`, env.namespace)
	env.run(t,
		// Two parts cannot be in one place.
		resource.TestStep{
			Config:      config(same),
			ExpectError: sentence(`Namespace "`+env.namespace+`" of VIM "test" is already used by the instance itself`, `Give the VIM connection another VIM or namespace.`),
		},
		resource.TestStep{
			Config: config(placed),
			ConfigStateChecks: []statecheck.StateCheck{
				instantiated(), replicas("upf", 1), replicas("amf", 2),
			},
			Check: allChecks(parts("statefulset.apps/upf"), env.diagnostics.NoWarnings(),

				resource.TestCheckTypeSetElemNestedAttrs("data.vnf_instance.by_id", "vnfcs.*", map[string]string{"vdu_id": "upf", "namespace": far}),
				resource.TestCheckTypeSetElemAttr("data.vnf_instance.by_id", "objects.*", "edge: apps/v1/StatefulSet upf"),
				resource.TestCheckTypeSetElemAttr("data.vnf_instance.by_id", "objects.*", "v1/Service amf")),
		},
		// Somebody changes things there, and another level is wanted.
		after(func() { kubectlSecond("set", "image", "statefulset/upf", "*=registry.example.com/core5g/upf:hotfix") }, updated(config(placed, `scale_levels = { user-plane = 2 }`), allChecks(parts("statefulset.apps/upf"), env.expectLastOperations(t, "INSTANTIATE COMPLETED", "SCALE COMPLETED", "HEAL COMPLETED"), func(*terraform.State) error {
			if image := kubectlSecond("get", "statefulset", "upf", "-o", "jsonpath={.spec.template.spec.containers[0].image}"); strings.Contains(image, "hotfix") {
				return fmt.Errorf("the image is still %s", image)
			}
			return nil
		}), replicas("upf", 3))),
		updated(config(placed, `scale_levels = { user-plane = 2 }`, `heal = { trigger = "a", vdu_ids = ["upf"] }`), nil),
		updated(config(`scale_levels = { user-plane = 2 }`), allChecks(parts(""), env.checkBackend()), replicas("upf", 3)),
	)
	if left := kubectlSecond("get", "all,configmaps,secrets,leases", "-l", "vnf.nfv-iac.github.io/instance-id", "-o", "name"); left != "" {
		t.Errorf("left on the further VIM: %s", left)
	}
}
