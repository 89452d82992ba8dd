package workloadcluster_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// A topology of a ClusterClass is one object, of which Cluster API makes the others. One that
// somebody made by hand is imported, although no record is of it, and taken over by the next
// apply, which asks for the argument that allows it and replaces no machine. Then it is changed.
func TestAccWorkloadCluster_topology(t *testing.T) {
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	env.lab.ClusterClass(t, env.namespace)
	env.apply(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: edge}
spec:
  clusterNetwork: {pods: {cidrBlocks: [192.168.0.0/16]}, services: {cidrBlocks: [10.128.0.0/12]}, serviceDomain: cluster.local}
  topology:
    classRef: {name: in-memory}
    version: v1.34.0
    controlPlane: {replicas: 1}
    workers: {machineDeployments: [{class: default-worker, name: a, replicas: 1}]}
`)
	groups := func(groups, more string) string {
		return env.config(`
  kubernetes_version = "1.34.0"
  topology           = { class = "in-memory" }
  network            = { pod_cidrs = ["192.168.0.0/16"], service_cidrs = ["10.128.0.0/12"], service_domain = "cluster.local" }
  control_plane      = { replicas = 1 }
  node_groups        = { ` + groups + ` }
` + more)
	}
	configured := func(more string) string { return groups(`a = { class = "default-worker", replicas = 2 }`, more) }
	adopted := func(of string) string { return groups(of, "  adopt_existing = true\n  force_conflicts = true\n") }
	single := func(more string) string {
		return groups(`b = { class = "default-worker", replicas = 1 }`, "  adopt_existing = true\n  force_conflicts = true\n"+more)
	}
	by := func(name string) resource.ImportStateIdFunc {
		return func(s *terraform.State) (string, error) {
			return s.RootModule().Resources["vnf_vim.test"].Primary.ID + "/" + env.namespace + "/" + name, nil
		}
	}
	var before []string
	env.run(t,
		resource.TestStep{Config: env.store.Config(acctest.VIM(env, env.lab, "test"))},
		resource.TestStep{
			Config: configured(""), ImportState: true, ResourceName: address, ImportStateIdFunc: by("nobody"),
			ExpectError: acctest.Says(`(?s)Unable to Import Workload Cluster ".*nobody"`),
		},
		resource.TestStep{
			PreConfig: func() {
				env.kubectl("wait", "cluster/edge", "--for=condition=Available", "--timeout=5m")
				before = strings.Fields(env.kubectl("get", "machines", "-o", "jsonpath={.items[*].metadata.name}"))
			},
			Config: configured(""), ImportState: true, ResourceName: address, ImportStateIdFunc: by("edge"), ImportStatePersist: true,
		},
		resource.TestStep{
			PreConfig: func() { env.listed(t, "", "edge", "", "1.34.0") },
			Config:    configured(""),
			// There is no record: the plan names all objects, for a comparison with those that exist.
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("changes").AtMapKey("applied").AtSliceIndex(0), knownvalue.StringRegexp(regexp.MustCompile(`^\S+/\S+ \S*edge`))),
			}},
			ExpectError: acctest.Says(`(?s)Cluster ` + env.namespace + `/edge.*set adopt_existing to take it over`),
		},
		resource.TestStep{
			Config:           adopted(`a = { class = "default-worker", replicas = 2 }`),
			ConfigPlanChecks: updates(),
			ConfigStateChecks: []statecheck.StateCheck{
				status("READY"), groupHas("a", "available_replicas", 2), groupHas("a", "up_to_date_replicas", 2),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("running_kubernetes_version"), knownvalue.StringExact("1.34.0")),
			},
			Check: func(*terraform.State) error {
				now := strings.Fields(env.kubectl("get", "machines", "-o", "jsonpath={.items[*].metadata.name}"))
				for _, name := range before {
					if !slices.Contains(now, name) {
						return fmt.Errorf("the machines were %v and are %v", before, now)
					}
				}
				return nil
			},
		},
		resource.TestStep{
			Config:           adopted(`a = { class = "default-worker", replicas = 2 }`),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check:            func(*terraform.State) error { env.listed(t, "READY", "edge", "in-memory", "1.34.0"); return nil },
		},
		resource.TestStep{
			// A rejection by the management cluster is an error of the plan.
			Config:      adopted(`a = { class = "no-such-worker", replicas = 2 }`),
			PlanOnly:    true,
			ExpectError: acctest.Says(`(?s)would be rejected by the API server.*no-such-worker`),
		},
		resource.TestStep{
			// Behind Terraform's back, through the topology itself.
			PreConfig: func() {
				env.kubectl("patch", "cluster", "edge", "--type=json", `-p=[{"op":"replace","path":"/spec/topology/workers/machineDeployments/0/replicas","value":3}]`)
				env.kubectl("wait", "machinedeployments", "--all", "--for=jsonpath={.spec.replicas}=3", "--timeout=2m")
			},
			Config:            adopted(`a = { class = "default-worker", replicas = 2 }`),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{groupHas("a", "replicas", 2)},
		},
		resource.TestStep{
			Config:            adopted(`a = { class = "default-worker", replicas = 1 }, b = { class = "default-worker", replicas = 1 }`),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{groupHas("a", "replicas", 1), groupHas("b", "available_replicas", 1)},
		},
		resource.TestStep{
			// A node group of the original manifest leaves the cluster.
			Config:           adopted(`b = { class = "default-worker", replicas = 1 }`),
			ConfigPlanChecks: updates(),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("node_groups_status"), knownvalue.MapSizeExact(1)), groupHas("b", "available_replicas", 1),
			},
		},
		resource.TestStep{
			// A running cluster is paused, and its controllers are not waited for.
			Config:            single("  paused = true\n"),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check:             func(*terraform.State) error { return env.isPaused("true") },
		},
		resource.TestStep{
			Config:            single("  paused = false\n"),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check:             func(*terraform.State) error { return env.isPaused("false") },
		},
		resource.TestStep{
			// A pause by somebody else is drift where the argument says otherwise.
			PreConfig:         func() { env.lab.Pause(t, env.namespace, "edge", true) },
			Config:            single("  paused = false\n"),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
			Check:             func(*terraform.State) error { return env.isPaused("false") },
		},
		resource.TestStep{
			// Without the argument it is left alone, and nothing is waited for in vain.
			PreConfig:   func() { env.lab.Pause(t, env.namespace, "edge", true) },
			Config:      single(""),
			ExpectError: acctest.Says(`is paused by somebody else, and Cluster API changes nothing of a paused cluster`),
		},
		resource.TestStep{
			PreConfig: func() {
				require.NoError(t, env.isPaused("true"))
				require.NoError(t, env.diagnostics.HasWarning(`Workload Cluster "edge" Is Paused`)(nil))
				env.lab.Pause(t, env.namespace, "edge", false)
			},
			Config:            single(""),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
		},
		resource.TestStep{
			// The class in use requires a variable: Cluster API refuses its own writes to the Cluster, also those of a deletion.
			PreConfig: func() {
				env.requireZone(true)
				env.kubectl("wait", "cluster/edge", "--for=condition=TopologyReconciled=False", "--timeout=2m")
			},
			Config:      single(""),
			Destroy:     true,
			ExpectError: acctest.Says(`(?s)Cluster ` + env.namespace + `/edge is being deleted, and Cluster API cannot go on.*correct the class.*required variable "zone" must be set`),
		},
		resource.TestStep{
			PreConfig: func() {
				require.NoError(t, env.diagnostics.HasWarning(`Topology of Workload Cluster "edge" Is Not Reconciled`)(nil))
				env.requireZone(false)
			},
			Config:  single(""),
			Destroy: true,
		},
	)
}

// requireZone adds a variable to the class, which a Cluster needs or not.
func (env *testEnv) requireZone(required bool) {
	env.kubectl("patch", "clusterclass", "in-memory", "--type=merge",
		fmt.Sprintf(`-p={"spec":{"variables":[{"name":"zone","required":%t,"schema":{"openAPIV3Schema":{"type":"string"}}}]}}`, required))
}

// isPaused checks the field of the Cluster.
func (env *testEnv) isPaused(want string) error {
	if is := env.kubectl("get", "cluster", "edge", "-o", "jsonpath={.spec.paused}"); is != want {
		return fmt.Errorf("spec.paused is %q, wanted %q", is, want)
	}
	return nil
}

// A class that does not exist is a warning of the plan, since it may be created before the apply. The
// apply does not wait for it.
func TestAccWorkloadCluster_missingClass(t *testing.T) {
	env := newEnv(t)
	env.diagnostics = &acctest.Diagnostics{}
	config := env.config(`
  kubernetes_version = "1.34.0"
  topology           = { class = "no-such-class" }
  control_plane      = { replicas = 1 }
  on_failure         = "rollback"
`)
	env.run(t,
		resource.TestStep{Config: env.store.Config(acctest.VIM(env, env.lab, "test"))},
		resource.TestStep{Config: config, PlanOnly: true, ExpectNonEmptyPlan: true},
		resource.TestStep{
			PreConfig: func() {
				require.NoError(t, env.diagnostics.HasWarning(`(?s)API server warns.*no-such-class`)(nil))
			},
			Config:      config,
			ExpectError: acctest.Says(`Cluster ` + env.namespace + `/edge waits for ClusterClass ` + env.namespace + `/no-such-class, which does not exist`),
		},
	)
}

// listed checks what a list shows of the one cluster of the namespace, whether the store knows it or not.
func (env *testEnv) listed(t *testing.T, status, name, class, version string) {
	t.Helper()
	vim, err := env.store.Manager(t).VIMByName(t.Context(), "test")
	require.NoError(t, err)
	all := env.store.List(t, "vnf_capi_workload_cluster", map[string]any{"management_vim_id": vim.ID, "namespace": env.namespace})
	require.Len(t, all, 1)
	require.Equal(t, map[string]tftypes.Value{
		"management_vim_id": tftypes.NewValue(tftypes.String, vim.ID), "namespace": tftypes.NewValue(tftypes.String, env.namespace), "name": tftypes.NewValue(tftypes.String, name),
	}, all[0].Identity)
	require.Equal(t, version, all[0].Text(t, "running_kubernetes_version"))
	if status != "" {
		require.Equal(t, status, all[0].Text(t, "status"))
	}
	require.Equal(t, class == "", all[0].Attributes["topology"].IsNull())
}
