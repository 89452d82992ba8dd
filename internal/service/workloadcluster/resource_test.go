package workloadcluster_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

func status(want string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact(want))
}

func groupHas(group, field string, want int64) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New("node_groups_status").AtMapKey(group).AtMapKey(field), knownvalue.Int64Exact(want))
}

// A cluster of the embedded chart: created, resized, a group added and one removed,
// upgraded, paused, and removed, with nothing of its kubeconfig in the state.
func TestAccWorkloadCluster_chart(t *testing.T) {
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	ephemeral := `
ephemeral "vnf_capi_workload_kubeconfig" "test" {
  management_vim_id = vnf_capi_workload_cluster.test.kubeconfig_ref.management_vim_id
  namespace         = vnf_capi_workload_cluster.test.kubeconfig_ref.namespace
  name              = vnf_capi_workload_cluster.test.kubeconfig_ref.name
  wait_timeout      = "2m"
}
`
	lists := `
data "vnf_capi_workload_clusters" "test" {
  management_vim_id = vnf_vim.test.id
  name              = vnf_capi_workload_cluster.test.name
}
data "vnf_instances" "test" { vim_id = vnf_vim.test.id }
`
	listed := func(name string, check knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.vnf_capi_workload_clusters.test", tfjsonpath.New("workload_clusters").AtSliceIndex(0).AtMapKey(name), check)
	}
	empty := resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
	last := env.config(inMemory("1.35.0", `b = { min_replicas = 1, max_replicas = 3 }`), ephemeral)
	var machines string
	paused := env.config(inMemory("1.34.0", `a = { replicas = 1 }`) + "\n  paused = true")
	env.run(t,
		resource.TestStep{
			// A paused cluster is made and not waited for.
			Config:            paused,
			ConfigPlanChecks:  planned(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
		},
		resource.TestStep{
			// One that somebody else removed is made again.
			PreConfig: func() {
				env.lab.Pause(t, env.namespace, "edge", false)
				env.kubectl("delete", "cluster", "edge", "--timeout=3m")
			},
			Config:            paused,
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
		},
		resource.TestStep{
			Config:           env.config(inMemory("1.34.0", `a = { replicas = 1 }`)),
			ConfigPlanChecks: updates(),
			ConfigStateChecks: []statecheck.StateCheck{
				status("READY"), groupHas("a", "available_replicas", 1),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("phase"), knownvalue.StringExact("Provisioned")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("available"), knownvalue.Bool(true)),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("running_kubernetes_version"), knownvalue.StringExact("1.34.0")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("api_version"), knownvalue.StringExact("v1beta2")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("endpoint"), knownvalue.StringRegexp(regexp.MustCompile(`^https://`))),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("ca_certificate"), knownvalue.StringRegexp(regexp.MustCompile(`BEGIN CERTIFICATE`))),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("kubeconfig_not_after"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("certificate_authorities_not_after"), knownvalue.NotNull()),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("conditions").AtMapKey("Available").AtMapKey("status"), knownvalue.StringExact("True")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("kubeconfig_ref").AtMapKey("name"), knownvalue.StringExact("edge")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("drift"), knownvalue.Null()),
			},
			Check: env.holdsNoKubeconfig(),
		},
		resource.TestStep{
			Config:           env.config(inMemory("1.34.0", `a = { replicas = 1 }`), ephemeral, lists),
			ConfigPlanChecks: empty,
			ConfigStateChecks: []statecheck.StateCheck{
				listed("namespace", knownvalue.StringExact(env.namespace)), listed("status", knownvalue.StringExact("READY")),
				listed("kubernetes_version", knownvalue.StringExact("1.34.0")), listed("api_version", knownvalue.StringExact("v1beta2")),
				statecheck.ExpectKnownValue("data.vnf_instances.test", tfjsonpath.New("instances"), knownvalue.ListSizeExact(0)),
			},
		},
		resource.TestStep{
			// The store is empty: the refresh finds the cluster.
			PreConfig: func() {
				machines = env.kubectl("get", "machines", "-o", "jsonpath={.items[*].metadata.uid}")
				env.store.Clear(env)
			},
			Config:            env.config(inMemory("1.34.0", `a = { replicas = 1 }`)),
			ConfigPlanChecks:  empty,
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 1)},
		},
		resource.TestStep{
			Config: env.store.Config(acctest.VIM(env, env.lab, "test"), "removed {\n  from = "+address+"\n  lifecycle { destroy = false }\n}\n"),
		},
		resource.TestStep{
			// Neither state nor store know it: an import finds it, with its id and its arguments.
			PreConfig: func() { env.store.Clear(env) },
			Config:    env.store.Config(acctest.VIM(env, env.lab, "test")),
		},
		resource.TestStep{
			Config: env.config(inMemory("1.34.0", `a = { replicas = 1 }`)), ImportState: true, ResourceName: address,
			ImportStateId: "test/" + env.namespace + "/edge", ImportStatePersist: true,
		},
		resource.TestStep{
			Config:            env.config(inMemory("1.34.0", `a = { replicas = 1 }`)),
			ConfigPlanChecks:  empty,
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("a", "available_replicas", 1)},
			Check: func(*terraform.State) error {
				if now := env.kubectl("get", "machines", "-o", "jsonpath={.items[*].metadata.uid}"); now != machines || now == "" {
					return fmt.Errorf("the machines were %s and are %s", machines, now)
				}
				return nil
			},
		},
		resource.TestStep{
			// One group is resized, one comes.
			Config: env.config(inMemory("1.34.0", `a = { replicas = 2 }, b = { min_replicas = 1, max_replicas = 3 }`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				// What providers of the cluster's objects are configured with.
				plancheck.ExpectKnownValue(address, tfjsonpath.New("endpoint"), knownvalue.StringRegexp(regexp.MustCompile(`^https://`))),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("ca_certificate"), knownvalue.StringRegexp(regexp.MustCompile(`BEGIN CERTIFICATE`))),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("operations"), texts(
					"CHANGE_VNFPKG Kubernetes 1.34.0, another description", "  node group a: 1 -> 2 machines", "  node group b: added")),
			}},
			ConfigStateChecks: []statecheck.StateCheck{groupHas("a", "available_replicas", 2), groupHas("b", "available_replicas", 1)},
		},
		resource.TestStep{
			// An autoscaler's number is not drift.
			PreConfig:        func() { env.kubectl("scale", "machinedeployment/edge-b", "--replicas=2") },
			Config:           env.config(inMemory("1.34.0", `a = { replicas = 2 }, b = { min_replicas = 1, max_replicas = 3 }`)),
			ConfigPlanChecks: empty,
		},
		resource.TestStep{
			// One group goes, and all is upgraded.
			Config: env.config(inMemory("1.35.0", `b = { min_replicas = 1, max_replicas = 3 }`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("operations"), texts(
					"CHANGE_VNFPKG Kubernetes 1.34.0 -> 1.35.0", "  control plane: 1 replaced, 1 more at a time, drained", "  node group b: replaced, 1 more at a time, drained", "  node group a: 2 removed")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("changes"), knownvalue.MapPartial(map[string]knownvalue.Check{
					"removed": knownvalue.ListPartial(map[int]knownvalue.Check{0: knownvalue.StringRegexp(regexp.MustCompile(`^bootstrap.cluster.x-k8s.io/v1beta2/KubeadmConfigTemplate edge-a-[0-9a-f]{8}$`))}),
					"cluster.x-k8s.io/v1beta2/MachineDeployment edge-b": texts("spec.template.spec.version: v1.34.0 -> v1.35.0"),
				})),
			}},
			Check: func(*terraform.State) error { return env.upgradedInOrder("b", "v1.35.0") },
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("running_kubernetes_version"), knownvalue.StringExact("1.35.0")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("node_groups_status"), knownvalue.MapSizeExact(1)),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("node_groups_status").AtMapKey("b").AtMapKey("kubernetes_version"), knownvalue.StringExact("1.35.0")),
			},
		},
		resource.TestStep{Config: env.config(inMemory("1.35.0", `b = { min_replicas = 1, max_replicas = 3 }`)), ConfigPlanChecks: empty},
		resource.TestStep{
			Config:      env.config(inMemory("1.37.0", `b = { min_replicas = 1, max_replicas = 3 }`)),
			ExpectError: acctest.Says(`one minor version at a time: to 1\.36 first`),
		},
		resource.TestStep{
			// What was paused behind Terraform's back cannot be removed, and Terraform says so instead of waiting.
			PreConfig:   func() { env.lab.Pause(t, env.namespace, "edge", true) },
			Config:      env.config(inMemory("1.35.0", `b = { min_replicas = 1, max_replicas = 3 }`)),
			Destroy:     true,
			ExpectError: acctest.Says(`is paused, and Cluster API removes nothing of a paused cluster`),
		},
		resource.TestStep{
			// The pause is drift, and goes with the next apply.
			Config:           env.config(inMemory("1.35.0", `b = { min_replicas = 1, max_replicas = 3 }`)),
			PreConfig:        func() { env.lab.Pause(t, env.namespace, "edge", false) },
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		},
		resource.TestStep{
			// A deleted cluster is instantiated again, and what reads its kubeconfig waits for that.
			PreConfig: func() { env.kubectl("delete", "cluster", "edge", "--timeout=3m") },
			Config:    last,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("kubeconfig_ref")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("operations"), knownvalue.ListPartial(map[int]knownvalue.Check{0: knownvalue.StringRegexp(regexp.MustCompile(`^INSTANTIATE Kubernetes 1\.35\.0: `))})),
			}},
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("b", "available_replicas", 1)},
		},
		resource.TestStep{
			// A finalizer keeps the Cluster, and its kubeconfig is gone.
			PreConfig: func() {
				env.kubectl("patch", "cluster", "edge", "--type=json", `-p=[{"op":"add","path":"/metadata/finalizers/-","value":"example.org/hold"}]`)
				env.kubectl("delete", "cluster", "edge", "--wait=false")
				env.kubectl("wait", "--for=delete", "secret/edge-kubeconfig", "devcluster/edge", "--timeout=3m")
			},
			Config: last, PlanOnly: true, ExpectNonEmptyPlan: true,
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("kubeconfig_ref")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("operations"), knownvalue.ListPartial(map[int]knownvalue.Check{0: knownvalue.StringRegexp(regexp.MustCompile(`^INSTANTIATE `))})),
			}},
		},
		resource.TestStep{
			// An apply waits for the deletion.
			PreConfig: func() {
				require.NoError(t, env.diagnostics.HasWarning(`(?s)Workload Cluster "edge" Is Being Deleted.*finalizers .*example\.org/hold`)(nil))
				time.AfterFunc(5*time.Second, func() { env.removeFinalizers("cluster", "edge") })
			},
			Config:            last,
			ConfigStateChecks: []statecheck.StateCheck{status("READY"), groupHas("b", "available_replicas", 1)},
		},
		// A destroy over an empty store.
		resource.TestStep{
			PreConfig: func() { env.store.Clear(env) },
			Config:    env.config(inMemory("1.35.0", `b = { min_replicas = 1, max_replicas = 3 }`)), Destroy: true,
		},
	)
}

// texts is a list of exactly these.
func texts(all ...string) knownvalue.Check {
	checks := make([]knownvalue.Check, len(all))
	for i, text := range all {
		checks[i] = knownvalue.StringExact(text)
	}
	return knownvalue.ListExact(checks)
}

// upgradedInOrder checks that a node group got a version after the control plane
// had replaced its machines, and that no machine is left of another version.
func (env *testEnv) upgradedInOrder(group, version string) error {
	for _, has := range strings.Fields(env.kubectl("get", "machines", "-o", "jsonpath={.items[*].spec.version}")) {
		if has != version {
			return fmt.Errorf("a machine has version %s after the upgrade to %s", has, version)
		}
	}
	ended := env.kubectl("get", "kubeadmcontrolplane/edge-control-plane", "-o", `jsonpath={.status.conditions[?(@.type=="RollingOut")].lastTransitionTime}`)
	changed := env.kubectl("get", "machinedeployment/edge-"+group, "--show-managed-fields", "-o", `jsonpath={.metadata.managedFields[?(@.manager=="terraform-provider-vnf")].time}`)
	end, err := time.Parse(time.RFC3339, ended)
	require.NoError(env, err)
	began, err := time.Parse(time.RFC3339, changed)
	require.NoError(env, err)
	if began.Before(end) {
		return fmt.Errorf("the control plane had replaced its machines at %s, and the node group was updated at %s", ended, changed)
	}
	return nil
}

// The bad inputs of the arguments, each with what the user reads.
func TestAccWorkloadCluster_badInput(t *testing.T) {
	env := newEnv(t)
	refused := map[string]acctest.Refused{}
	for name, c := range map[string]struct{ arguments, want string }{
		"no form":       {``, `No attribute specified when one \(and only one\) of`},
		"two forms":     {`chart = { name = "in-memory" }` + "\n" + `clusterctl_template = { content = "x" }`, `2 attributes specified when one \(and only one\)`},
		"two charts":    {`chart = { name = "in-memory", path = "x" }`, `and path is another source: set only one of them`},
		"unknown chart": {`chart = { name = "openshift" }`, `There is no embedded chart "openshift", only openstack and in-memory`},
		"even":          {`chart = { name = "in-memory" }` + "\n" + `kubernetes_version = "1.34.0"` + "\n" + `control_plane = { replicas = 2 }`, `cannot have 2 machines`},
		"version":       {`chart = { name = "in-memory" }` + "\n" + `kubernetes_version = "newest"`, `"newest" is not a valid version of Kubernetes`},
		"missing":       {`chart = { name = "in-memory" }`, `kubernetesVersion is required`},
		"half a second": {`chart = { name = "in-memory" }` + "\n" + `control_plane = { deletion = { node_drain_timeout = "1.5s" } }`, `must be a duration of whole seconds, at least 0s, not "1.5s"`},
		"rollout after": {`chart = { name = "in-memory" }` + "\n" + `rollout_after = "now"`, `Invalid RFC3339 String Value`},
		"taint":         {`topology = { class = "x" }` + "\n" + `node_groups = { a = { class = "w", taints = [{ key = "k", effect = "Never" }] } }`, `value must be one of`},
		"variable":      {`topology = { class = "x" }` + "\n" + `kubernetes_version = "1.34.0"` + "\n" + `node_groups = { a = { class = "w", class_variables = "a: {" } }`, `(?s)class_variables: line 1: `},
		"volume": {`topology = { class = "x" }` + "\n" + `kubernetes_version = "1.34.0"` + "\n" + `node_groups = { a = { class = "w", root_volume = { size = 20 } } }`,
			`(?s)topology does not support root_volume of node group "a".*A ClusterClass has variables for that`},
		"network by two":    {`chart = { name = "openstack" }` + "\n" + `node_groups = { a = { networks = [{ id = "x", name = "y" }] } }`, `(?s)networks\[0\]: id identifies the object alone`},
		"subnet by nothing": {`chart = { name = "openstack" }` + "\n" + `network = { internal_subnet = {} }`, `internal_subnet: set id, name or tags`},
		"template's own":    {`clusterctl_template = { content = "a: $${FOO}" }`, `needs values for FOO`},
	} {
		refused[name] = acctest.Refused{Config: env.config(c.arguments), Want: c.want}
	}
	management := resource.TestStep{Config: env.store.Config(acctest.VIM(env, env.lab, "test"))}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps:                    slices.Concat([]resource.TestStep{management}, acctest.RefusedSteps(t, refused), []resource.TestStep{management}),
	})
}
