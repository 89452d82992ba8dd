package workloadcluster_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// A trigger has Cluster API make the kubeconfig again once, and the sink gets it.
func TestAccWorkloadCluster_regeneratesKubeconfig(t *testing.T) {
	env := newEnv(t)
	s := newSink(t)
	config := func(trigger string) string {
		return env.config(inMemory("1.34.0", "") + fmt.Sprintf("  kubeconfig_rotation_trigger = %q\n", trigger) + s.argument("/"))
	}
	first := ""
	uid := func() string {
		return env.kubectl("get", "secret", "edge-kubeconfig", "-o", "jsonpath={.metadata.uid}")
	}
	delivered := func(count int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			live := env.kubectl("get", "secret", "edge-kubeconfig", "-o", "go-template={{ .data.value | base64decode }}")
			got, err := s.last(count)
			if err == nil && got.kubeconfig != live+"\n" && got.kubeconfig != live {
				err = fmt.Errorf("the sink has another kubeconfig than the management cluster")
			}
			return err
		}
	}
	env.run(t,
		resource.TestStep{
			Config:            config("at birth"),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check:             resource.ComposeTestCheckFunc(delivered(1), func(*terraform.State) error { first = uid(); return nil }),
		},
		resource.TestStep{
			Config:            config("leaked"),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check: resource.ComposeTestCheckFunc(delivered(2), env.holdsNoKubeconfig(), func(*terraform.State) error {
				if uid() == first {
					return fmt.Errorf("the kubeconfig is the old one")
				}
				return nil
			}),
		},
		resource.TestStep{
			Config:           config("leaked"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check:            delivered(2),
		},
	)
}
