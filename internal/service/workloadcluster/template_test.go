package workloadcluster_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/assert"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/charttest"
)

// clusterTemplate is a template "standard" of some version and arguments.
func clusterTemplate(version, arguments string) string {
	return fmt.Sprintf(`
resource "vnf_capi_cluster_template" "standard" {
  name  = "standard"
  image = { name = "node-%[1]s", kube_version = "v%[1]s", os_distro = "ubuntu" }
%[2]s
}
`, version, arguments)
}

const fromTemplate = `cluster_template = { definition = vnf_capi_cluster_template.standard.definition }`

// A cluster of a template that is new in the same configuration is planned whole, comes
// up, is the same without the store's records, and is upgraded by the template. The chart
// of the template is in a registry, for which the cluster has the password.
func TestAccWorkloadCluster_clusterTemplate(t *testing.T) {
	env := newEnv(t)
	chart := packedInMemory(t, nil)
	registry := charttest.Registry(t, chart)
	memoryTemplate := fmt.Sprintf(`  chart = { oci = "oci://%s/charts/%s", version = ">=0.0.1", ca_certificate = %q, values = [yamlencode({ provisioning = { startupDuration = "1s" } })] }`, registry.Host, chart.Name, registry.CA)
	fromTemplate := fmt.Sprintf(`cluster_template = {
    definition        = vnf_capi_cluster_template.standard.definition
    chart_credentials = { username = %q, password_wo = %q, password_wo_version = 1 }
  }`, charttest.Username, charttest.Password)
	// Another source is read again, and is an upgrade like anything else of the template.
	exactly := strings.Replace(memoryTemplate, ">=0.0.1", chart.Version, 1)
	var asked int64
	env.run(t,
		resource.TestStep{Config: env.store.Config(acctest.VIM(t, env.lab, "test"))},
		resource.TestStep{
			Config: env.config(fromTemplate, clusterTemplate("1.34.0", memoryTemplate)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("operations"), knownvalue.ListPartial(map[int]knownvalue.Check{
					2: knownvalue.StringRegexp(regexp.MustCompile(`node group default-worker`)),
				})),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("chart_status").AtMapKey("version"), knownvalue.StringExact(chart.Version)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{
				status("READY"), groupHas("default-worker", "available_replicas", 1),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("running_kubernetes_version"), knownvalue.StringExact("1.34.0")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("chart_status").AtMapKey("digest"), knownvalue.StringExact(charttest.Digest(chart.Packed))),
			},
			Check: func(s *terraform.State) error {
				asked = registry.Requests.Load()
				assert.NotContains(t, fmt.Sprint(s.RootModule().Resources), charttest.Password)
				return nil
			},
		},
		resource.TestStep{
			Config:           env.config(fromTemplate, clusterTemplate("1.34.0", memoryTemplate)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check: func(*terraform.State) error {
				assert.Equal(t, asked, registry.Requests.Load(), "requests to the registry")
				return nil
			},
		},
		resource.TestStep{
			Config:      env.config(fromTemplate, clusterTemplate("1.34.0", strings.Replace(memoryTemplate, ">=0.0.1", "9.9.9", 1))),
			PlanOnly:    true,
			ExpectError: acctest.Says(`has no chart .* of version "9\.9\.9"`),
		},
		resource.TestStep{
			Config:      env.config(fromTemplate, clusterTemplate("1.36.0", memoryTemplate)),
			PlanOnly:    true,
			ExpectError: acctest.Says(`one minor version at a time: to 1\.35 first`),
		},
		resource.TestStep{
			PreConfig:        func() { asked = registry.Requests.Load() },
			Config:           env.config(fromTemplate, clusterTemplate("1.35.0", exactly)),
			ConfigPlanChecks: updates(),
			ConfigStateChecks: []statecheck.StateCheck{
				status("READY"),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("running_kubernetes_version"), knownvalue.StringExact("1.35.0")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("node_groups_status").AtMapKey("default-worker").AtMapKey("kubernetes_version"), knownvalue.StringExact("1.35.0")),
			},
			Check: func(*terraform.State) error {
				assert.Greater(t, registry.Requests.Load(), asked, "requests to the registry")
				return nil
			},
		},
		resource.TestStep{
			Config:      env.config(fromTemplate, clusterTemplate("1.34.0", exactly)),
			PlanOnly:    true,
			ExpectError: acctest.Says(`Kubernetes does not support downgrades`),
		},
		resource.TestStep{
			PreConfig:         func() { env.store.Clear(t) },
			Config:            env.config(fromTemplate, clusterTemplate("1.35.0", exactly)),
			ConfigPlanChecks:  resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			ConfigStateChecks: []statecheck.StateCheck{status("READY")},
		},
	)
}

// Without credentials for an OpenStack nothing comes up: the objects are those of the plan,
// the next plan resumes, and all is removed again.
func TestAccWorkloadCluster_openstack(t *testing.T) {
	env := newEnv(t)
	template := clusterTemplate("1.34.0", `
  control_plane_flavor = "m1.large"
  node_flavor          = "m1.medium"
  external_network      = "public"
  labels                = { octavia_provider = "ovn", etcd_volume_size = "10", boot_volume_size = "40" }
`)
	arguments := `
  cluster_template = {
    definition              = vnf_capi_cluster_template.standard.definition
    keypair                 = "ops"
    credentials_secret_name = "cloud"
    labels                  = { boot_volume_size = "50" }
  }
  network     = { external = { name = "internet" } }
  node_groups = {
    upf = {
      replicas    = 2
      flavor      = "m1.fast"
      root_volume = { size = 60, type = "fast" }
      networks    = [{}, { name = "n6", tags = ["external"], subnet = { id = "e63ca1a0-f69d-4fbf-b306-310857b1afe5" } }]
    }
  }
  on_failure  = "resume"
  timeouts    = { create = "10s", update = "10s" }
`
	env.run(t,
		resource.TestStep{Config: env.store.Config(acctest.VIM(t, env.lab, "test"))},
		resource.TestStep{
			Config: env.config(arguments, template),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				// Resuming changes nothing of what there is.
				PostApplyPostRefresh: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
					plancheck.ExpectKnownValue(address, tfjsonpath.New("changes"), knownvalue.MapSizeExact(0)),
				},
			},
			ConfigStateChecks:  []statecheck.StateCheck{status("FAILED_TEMP")},
			ExpectNonEmptyPlan: true,
		},
		resource.TestStep{
			PreConfig: func() {
				assert.Equal(t, "cloud ovn internet", env.kubectl("get", "openstackcluster", "edge", "-o",
					"jsonpath={.spec.identityRef.name} {.spec.apiServerLoadBalancer.provider} {.spec.externalNetwork.filter.name}"))
				worker := env.kubectl("get", "machinedeployment", "edge-upf", "-o", "jsonpath={.spec.template.spec.infrastructureRef.name}")
				assert.Equal(t, `m1.fast ops {"availabilityZone":{"from":"Machine"},"sizeGiB":60,"type":"fast"} [{},{"fixedIPs":[{"subnet":{"id":"e63ca1a0-f69d-4fbf-b306-310857b1afe5"}}],"network":{"filter":{"name":"n6","tags":["external"]}}}]`,
					env.kubectl("get", "openstackmachinetemplate", worker, "-o",
						"jsonpath={.spec.template.spec.flavor} {.spec.template.spec.sshKeyName} {.spec.template.spec.rootVolume} {.spec.template.spec.ports}"))
			},
			Config:      env.config(arguments, template),
			ExpectError: acctest.Says(`Unable to Update Workload Cluster "edge"`),
		},
	)
	assert.Empty(t, env.kubectl("get", "openstackclusters,openstackmachinetemplates,kubeadmconfigtemplates,machinehealthchecks", "-o", "name", "--ignore-not-found"))
}

// Template and cluster must agree.
func TestAccWorkloadCluster_badTemplate(t *testing.T) {
	env := newEnv(t)
	refused := map[string]acctest.Refused{}
	for name, c := range map[string]struct{ arguments, want string }{
		"two forms":  {fromTemplate + "\n" + `chart = { name = "in-memory" }`, `2 attributes specified when one`},
		"definition": {`cluster_template = { definition = "standard" }`, `Write definition = vnf_capi_cluster_template`},
		"hand-made": {`cluster_template = { definition = jsonencode({ chart = { name = "openstack" }, image = { name = "n", kube_version = "1.34.0", os_distro = "coreos" } }) }`,
			`Nodes cannot be made of "coreos"`},
		"version": {fromTemplate + "\n" + `kubernetes_version = "1.33.0"`, `The cluster template has Kubernetes 1\.34\.0, not 1\.33\.0`},
		"label":   {`cluster_template = { definition = vnf_capi_cluster_template.standard.definition, labels = { colour = "blue" } }`, `There is no label "colour" here`},
		"flavor":  {fromTemplate, `needs machineFlavor`},
		"credentials": {`cluster_template = { definition = vnf_capi_cluster_template.standard.definition, chart_credentials = { username = "me" } }`,
			`chart_credentials are only for a chart from a repository or registry, and that of the template is openstack`},
	} {
		refused[name] = acctest.Refused{Config: env.config(c.arguments, clusterTemplate("1.34.0", "")), Want: c.want}
	}
	management := resource.TestStep{Config: env.store.Config(acctest.VIM(env, env.lab, "test"))}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: acctest.Factories(),
		Steps:                    slices.Concat([]resource.TestStep{management}, acctest.RefusedSteps(t, refused), []resource.TestStep{management}),
	})
}
