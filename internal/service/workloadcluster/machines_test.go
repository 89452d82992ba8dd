package workloadcluster_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// One cluster, whose machines are healed, removed by name and replaced, and of which each attribute is changed in the end.
func TestAccWorkloadCluster_machines(t *testing.T) {
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	m := &machines{testEnv: env, names: config.Variables{}}
	env.run(t, slices.Concat(m.createSteps(), m.healSteps(), m.removalSteps(), m.rolloutSteps(), m.attributeSteps(t))...)
}

// machines is a cluster with node groups a and b.
type machines struct {
	*testEnv
	// names are the variables of its configurations. Most are known once the cluster is there.
	names config.Variables
	// before are the machines before the step, kept is the one of group a that remains.
	before []string
	kept   string
}

const (
	machineVariables = `
variable "two" {
  type    = set(string)
  default = []
}
variable "three" {
  type    = set(string)
  default = []
}
variable "other" {
  type    = set(string)
  default = []
}
variable "worker" {
  type    = string
  default = ""
}
variable "master" {
  type    = string
  default = ""
}
variable "since" {
  type    = string
  default = ""
}
`
	two       = "scale_in_machine_names = var.two"
	rolledOut = `
  labels        = { tier = "edge" }
  rollout_after = var.since
`
)

// of are the arguments of the cluster, with those of node group a.
func (m *machines) of(a, more string) string {
	return inMemory("1.34.0", `a = { `+a+` }, b = { replicas = 1 }`) + more
}

// step applies a configuration with those arguments of node group a, and further ones.
func (m *machines) step(a, more string) resource.TestStep {
	return resource.TestStep{Config: m.config(m.of(a, more), machineVariables), ConfigVariables: m.names}
}

// fails is a step whose plan or apply has an error.
func (m *machines) fails(a, more, want string) resource.TestStep {
	step := m.step(a, more)
	step.ExpectError = acctest.Says(want)
	return step
}

// refused is a step whose plan has an error.
func (m *machines) refused(a, more, want string) resource.TestStep {
	step := m.fails(a, more, want)
	step.PlanOnly = true
	return step
}

// list returns the names of the machines that have the labels.
func (m *machines) list(labels string) []string {
	return strings.Fields(m.kubectl("get", "machines", "-l", labels, "-o", "jsonpath={.items[*].metadata.name}"))
}

func (m *machines) all() []string { return m.list("cluster.x-k8s.io/cluster-name=edge") }

func (m *machines) group(name string) []string {
	return m.list("cluster.x-k8s.io/deployment-name=edge-" + name)
}

func (m *machines) createSteps() []resource.TestStep {
	// Machines that are named on create are ignored.
	m.names["two"] = machineSet("edge-a-of-another-life")
	create := m.step("replicas = 3, "+two, `  heal = { trigger = "at birth" }`)
	create.ConfigStateChecks = []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 3)}
	create.Check = func(*terraform.State) error {
		m.before = m.all()
		a, b := m.group("a"), m.group("b")
		slices.Sort(a)
		if len(a) != 3 || len(b) != 1 {
			return fmt.Errorf("the machines of the groups are %v and %v", a, b)
		}
		// Neither the oldest nor the newest by name is what a controller would choose.
		m.kept = a[1]
		m.names["two"], m.names["three"], m.names["other"] = machineSet(a[0], a[2]), machineSet(a...), machineSet(a[0], b[0])
		m.names["worker"] = config.StringVariable(b[0])
		m.names["master"] = config.StringVariable(m.list("cluster.x-k8s.io/control-plane")[0])
		return nil
	}
	return []resource.TestStep{create}
}

func machineSet(names ...string) config.Variable {
	var all []config.Variable
	for _, name := range names {
		all = append(all, config.StringVariable(name))
	}
	return config.SetVariable(all...)
}

// healSteps replace a named machine and no other; the only one of a control plane is not replaced.
func (m *machines) healSteps() []resource.TestStep {
	one := m.step("replicas = 3", `  heal = { trigger = "one", machine_names = [var.worker] }`)
	one.ConfigPlanChecks = updates()
	one.ConfigStateChecks = []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 3), groupHas("b", "available_replicas", 1)}
	one.Check = func(*terraform.State) error {
		now := m.all()
		gone := slices.DeleteFunc(slices.Clone(m.before), func(name string) bool { return slices.Contains(now, name) })
		if len(now) != 5 || len(gone) != 1 || !strings.HasPrefix(gone[0], "edge-b-") {
			return fmt.Errorf("the machines were %v and are %v", m.before, now)
		}
		return nil
	}
	return []resource.TestStep{
		m.fails("replicas = 3", `  heal = { trigger = "one", machine_names = ["edge-nobody"] }`, `workload cluster has no machine "edge-nobody"`),
		m.fails("replicas = 3", `  heal = { trigger = "one", machine_names = [var.master] }`, `Machine "edge-control-plane-\S+" is the whole control plane`),
		m.fails("replicas = 3", "  rollout_after = \"2026-01-01T00:00:00Z\"\n  heal = { trigger = \"all\" }", `Conflicting Rollout Settings`),
		one,
	}
}

// removalSteps remove the machines that are named and no others, once; a mark that an operation left which nobody goes on with is
// taken off.
func (m *machines) removalSteps() []resource.TestStep {
	const healed = `  heal = { trigger = "one" }`
	remove := m.step("replicas = 1, "+two, healed)
	remove.PreConfig = func() {
		id := m.kubectl("get", "cluster", "edge", "-o", `jsonpath={.metadata.labels.vnf\.nfv-iac\.github\.io/instance-id}`)
		m.kubectl("annotate", "machine", m.kept, "cluster.x-k8s.io/delete-machine="+id)
	}
	remove.ConfigPlanChecks = updates()
	remove.ConfigStateChecks = []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 1)}
	remove.Check = func(*terraform.State) error {
		if left := m.group("a"); !slices.Equal(left, []string{m.kept}) {
			return fmt.Errorf("%s was to stay, and the machines of the group are %v", m.kept, left)
		}
		if mark := m.kubectl("get", "machine", m.kept, "-o", `jsonpath={.metadata.annotations.cluster\.x-k8s\.io/delete-machine}`); mark != "" {
			return fmt.Errorf("machine %s is still marked", m.kept)
		}
		return nil
	}

	again := m.step("replicas = 1, "+two, healed)
	again.ConfigPlanChecks = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}

	return []resource.TestStep{
		m.refused("replicas = 1, scale_in_machine_names = var.three", healed,
			`(?s)Node group "a" is scaled from 3 machines to 1, which removes 2, but scale_in_machine_names has 3`),
		m.refused("replicas = 3, "+two, healed, `(?s)is scaled from 3 machines to 3, which removes 0, but scale_in_machine_names has 2`),
		m.refused("replicas = 1, scale_in_machine_names = var.other", healed, `(?s)Node group "a" has no machine "edge-b-\S+".*Its machines are edge-a-`),
		m.refused("min_replicas = 1, max_replicas = 3, "+two, healed, `(?s)and an autoscaler sizes it.*An autoscaler chooses by itself which machine goes`),
		remove,
		again,
	}
}

// rolloutSteps replace all machines: by a heal without names and by rollout_after. Nodes of another version are noticed.
func (m *machines) rolloutSteps() []resource.TestStep {
	all := m.step("replicas = 1, "+two, `  heal = { trigger = "all" }`)
	all.PreConfig = func() { m.before = m.all() }
	all.ConfigStateChecks = []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 1), groupHas("b", "available_replicas", 1)}
	all.Check = func(*terraform.State) error {
		now := m.all()
		if len(now) != 3 || slices.ContainsFunc(now, func(name string) bool { return slices.Contains(m.before, name) }) {
			return fmt.Errorf("the machines were %v and are %v", m.before, now)
		}
		return nil
	}

	// Down to nobody, and the names of those that are gone do no harm.
	none := m.step("replicas = 0, "+two, `  heal = { trigger = "all" }`)
	none.ConfigPlanChecks = updates()
	none.ConfigStateChecks = []statecheck.StateCheck{status("READY"), groupHas("a", "replicas", 0)}

	// Kubelet of a node is another one than Cluster API believes.
	older := m.step("replicas = 0, "+two, "  labels = { tier = \"edge\" }\n  heal = { trigger = \"all\" }")
	older.PreConfig = func() {
		node := m.kubectl("get", "machines", "-l", "cluster.x-k8s.io/deployment-name=edge-b", "-o", "jsonpath={.items[0].status.nodeRef.name}")
		m.lab.WorkloadKubectl(m, m.namespace, "edge", "patch", "node", node, "--type=merge", "--patch", `{"status":{"nodeInfo":{"kubeletVersion":"v1.33.1"}}}`)
		labtest.Eventually(m, time.Minute, "the version of kubelet", func() error {
			if seen := m.kubectl("get", "machines", "-o", "jsonpath={.items[*].status.nodeInfo.kubeletVersion}"); !strings.Contains(seen, "v1.33.1") {
				return fmt.Errorf("the kubelets are %s", seen)
			}
			return nil
		})
	}
	older.ExpectError = acctest.Says(`(?s)edge does not run the version that was asked for: kubelet of node "\S+" reports v1\.33\.1, and Machine \S+/edge-b-\S+ has v1\.34\.0\. Kubelet comes with the image`)

	// A rollout puts it right.
	rollout := m.step("replicas = 0, "+two, rolledOut)
	rollout.PreConfig = func() { m.names["since"] = config.StringVariable(time.Now().UTC().Format(time.RFC3339)) }
	rollout.ConfigPlanChecks = updates()
	rollout.ConfigStateChecks = []statecheck.StateCheck{status("READY"), groupHas("b", "available_replicas", 1)}
	rollout.Check = m.diagnostics.HasWarning(`Nodes of Workload Cluster "edge" Run Another Version: \* kubelet of node "\S+" reports v1\.33\.1, and Machine`)

	return []resource.TestStep{all, none, older, rollout}
}
