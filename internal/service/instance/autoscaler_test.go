package instance_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// TestAccInstance_autoscaler leaves the replicas of an autoscaled VDU to its
// autoscaler: they are not drift, and neither a scale of another aspect nor a
// change of the package touches them, not even for an instant. An autoscaler that is not
// of the package is left alone as well, with a warning.
func TestAccInstance_autoscaler(t *testing.T) {
	env := newEnv(t)
	changed := acctest.CopyPackage(t, "core5g")
	acctest.Edit(t, changed, "Files/kubernetes/ausf.yaml", "core5g/ausf:1.4.0", "core5g/ausf:1.5.0")
	acctest.Hash(t, changed)
	var upTo func(func(event) bool) []event
	desired := func(kind, name string, n int) {
		env.kubectl("annotate", "--overwrite", "hpa", name, fmt.Sprintf("lab.vnf/desired-replicas=%d", n))
		env.kubectl("wait", kind+"/"+name, fmt.Sprintf("--for=jsonpath={.status.availableReplicas}=%d", n), "--timeout=120s")
	}
	upf := env.configFor(changed, `scale_levels = { user-plane = 1 }`)
	warned := env.diagnostics.HasWarning(`Autoscalers that are not of the instance decide on replicas on VIM "[^"]*": apps/v1/StatefulSet upf: autoscaling/v2/HorizontalPodAutoscaler ` + env.namespace + `/upf\n`)
	ausf := func(want string) resource.TestCheckFunc {
		return env.expectKubectl(want, "get", "deployment", "ausf", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}")
	}
	env.run(t,
		applied(env.config("core5g"), allChecks(env.checkBackend(), ausf("1 registry.example.com/core5g/ausf:1.4.0"))),
		resource.TestStep{
			PreConfig: func() { desired("deployment", "ausf", 3) },
			Config:    env.config("core5g"),
			PlanOnly:  true,
		},
		after(func() { upTo = env.watch(t, "apis/apps/v1", "deployments") }, updated(env.config("core5g", `scale_levels = { user-plane = 1 }`), ausf("3 registry.example.com/core5g/ausf:1.4.0"), replicas("upf", 2))),
		updated(upf, allChecks(env.checkBackend(), ausf("3 registry.example.com/core5g/ausf:1.5.0"), func(*terraform.State) error {
			// A mark at the end of what is to be looked at.
			env.kubectl("annotate", "deployment", "ausf", "example.com/mark=end")
			last := env.kubectl("get", "deployment", "ausf", "-o", "jsonpath={.metadata.resourceVersion}")
			seen := 0
			for _, e := range upTo(func(e event) bool { return e.Object.Metadata.ResourceVersion == last }) {
				if e.Object.Metadata.Name != "ausf" {
					continue
				}
				seen++
				if n := e.Object.Spec.Replicas; n == nil || *n != 3 {
					return fmt.Errorf("at version %s ausf had other replicas: %+v", e.Object.Metadata.ResourceVersion, e.Object)
				}
			}
			if seen < 2 {
				return fmt.Errorf("%d changes of ausf were seen", seen)
			}
			return nil
		})),
		resource.TestStep{
			PreConfig: func() {
				env.kubectl("autoscale", "statefulset", "upf", "--max=5")
				desired("statefulset", "upf", 4)
				env.diagnostics.Discard()
			},
			Config: upf, PlanOnly: true,
		},
		after(func() { require.NoError(t, warned(nil)) },
			updated(env.configFor(changed, `scale_levels = { user-plane = 2 }`), allChecks(warned, env.expectKubectl("4", "get", "statefulset", "upf", "-o", "jsonpath={.spec.replicas}")), replicas("upf", 3))),
	)
}
