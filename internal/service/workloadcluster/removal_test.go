package workloadcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// The machines that are named go and no others, once; a mark that an operation left which
// nobody goes on with is taken off.
func TestAccWorkloadCluster_removesNamedMachines(t *testing.T) {
	env := newEnv(t)
	group := func(arguments string) string {
		return env.config(inMemory("1.34.0", `a = { `+arguments+` }, b = { replicas = 1 }`), `
variable "machines" {
  type    = set(string)
  default = []
}
`)
	}
	ofGroup := func(name string) []string {
		return strings.Fields(env.kubectl("get", "machines", "-l", "cluster.x-k8s.io/deployment-name=edge-"+name, "-o", "jsonpath={.items[*].metadata.name}"))
	}
	named := func(v config.Variables, machines ...string) {
		var all []config.Variable
		for _, m := range machines {
			all = append(all, config.StringVariable(m))
		}
		v["machines"] = config.SetVariable(all...)
	}
	// The names are known once the cluster is there.
	two, three, other := config.Variables{}, config.Variables{}, config.Variables{}
	kept := ""
	env.run(t,
		resource.TestStep{
			Config: group(`replicas = 3, scale_in_machine_names = var.machines`),
			// Machines that are named on create are ignored.
			ConfigVariables: config.Variables{"machines": config.SetVariable(config.StringVariable("edge-a-of-another-life"))},
			Check: func(*terraform.State) error {
				a := ofGroup("a")
				slices.Sort(a)
				if len(a) != 3 {
					return fmt.Errorf("the machines of the group are %v", a)
				}
				// Neither the oldest nor the newest by name is what a controller would choose.
				kept = a[1]
				named(two, a[0], a[2])
				named(three, a...)
				named(other, a[0], ofGroup("b")[0])
				return nil
			},
		},
		resource.TestStep{
			Config: group(`replicas = 1, scale_in_machine_names = var.machines`), ConfigVariables: three, PlanOnly: true,
			ExpectError: acctest.Says(`(?s)Node group "a" is scaled from 3 machines to 1, which removes 2, but scale_in_machine_names has 3`),
		},
		resource.TestStep{
			Config: group(`replicas = 3, scale_in_machine_names = var.machines`), ConfigVariables: two, PlanOnly: true,
			ExpectError: acctest.Says(`(?s)is scaled from 3 machines to 3, which removes 0, but scale_in_machine_names has 2`),
		},
		resource.TestStep{
			Config: group(`replicas = 1, scale_in_machine_names = var.machines`), ConfigVariables: other, PlanOnly: true,
			ExpectError: acctest.Says(`(?s)Node group "a" has no machine "edge-b-\S+".*Its machines are edge-a-`),
		},
		resource.TestStep{
			Config: group(`min_replicas = 1, max_replicas = 3, scale_in_machine_names = var.machines`), ConfigVariables: two, PlanOnly: true,
			ExpectError: acctest.Says(`(?s)and an autoscaler sizes it.*An autoscaler chooses by itself which machine goes`),
		},
		resource.TestStep{
			PreConfig: func() {
				id := env.kubectl("get", "cluster", "edge", "-o", `jsonpath={.metadata.labels.vnf\.nfv-iac\.github\.io/instance-id}`)
				env.kubectl("annotate", "machine", kept, "cluster.x-k8s.io/delete-machine="+id)
			},
			Config: group(`replicas = 1, scale_in_machine_names = var.machines`), ConfigVariables: two,
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 1)},
			Check: func(*terraform.State) error {
				if left := ofGroup("a"); !slices.Equal(left, []string{kept}) {
					return fmt.Errorf("%s was to stay, and the machines of the group are %v", kept, left)
				}
				if mark := env.kubectl("get", "machine", kept, "-o", `jsonpath={.metadata.annotations.cluster\.x-k8s\.io/delete-machine}`); mark != "" {
					return fmt.Errorf("machine %s is still marked", kept)
				}
				return nil
			},
		},
		resource.TestStep{
			Config: group(`replicas = 1, scale_in_machine_names = var.machines`), ConfigVariables: two,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		resource.TestStep{
			// Down to nobody, and the names of those that are gone do no harm.
			Config: group(`replicas = 0, scale_in_machine_names = var.machines`), ConfigVariables: two,
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "replicas", 0)},
		},
	)
}
