package instance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// gateway returns a changed copy of the package gateway, which has no manifest.
func gateway(t testing.TB, edits ...edit) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "gateway")
	for _, e := range edits {
		e(t, dir)
	}
	acctest.Hash(t, dir)
	return dir
}

// inVNFD replaces text in the VNFD of the package gateway.
func inVNFD(from, to string) edit {
	return func(t testing.TB, dir string) { acctest.Edit(t, dir, "gateway.yaml", from, to) }
}

// gatewayObjects are the objects of the package gateway.
var gatewayObjects = []string{
	"apps/v1/Deployment api", "apps/v1/Deployment proxy", "apps/v1/StatefulSet sessions",
	"autoscaling/v2/HorizontalPodAutoscaler api",
	"v1/ConfigMap api-server", "v1/ConfigMap proxy-envoy",
	"v1/Service api-address", "v1/Service gateway", "v1/Service sessions-headless",
}

// TestContainers takes a VNF whose containers only its VNFD describes through its life.
func TestContainers(t *testing.T) {
	env := newEnv(t)
	first, second := gateway(t), gateway(t, inVNFD("gateway/envoy:1.0.0", "gateway/envoy:1.0.1"), inVNFD("LOG_LEVEL: info", "LOG_LEVEL: debug"))
	jsonpath := "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}"
	var uid string
	env.run(t,
		resource.TestStep{
			Config: env.configFor(first),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plansObjects(len(gatewayObjects)),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts"), counts("proxy", 1, "api", nil, "sessions", 1)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
			},
			Check: allChecks(env.checkBackend(),
				env.expectKubectl("Guaranteed", "get", "pods", "-l", "app.kubernetes.io/name=proxy", "-o", "jsonpath={.items[0].status.qosClass}"),
				env.expectKubectl("1Gi", "get", "persistentvolumeclaim", "session-data-sessions-0", "-o", "jsonpath={.spec.resources.requests.storage}"),
				func(*terraform.State) error { uid = env.uid("deployment/proxy"); return nil },
			),
		},
		updated(env.configFor(first, "scale_levels = { proxy = 2 }"), allChecks(
			env.expectKubectl("3 registry.example.com/gateway/envoy:1.0.0", "get", "deployment", "proxy", "-o", jsonpath),
			func(*terraform.State) error {
				// Rules of the VNFD keep the proxies apart.
				nodes := map[string]bool{}
				for _, node := range strings.Fields(env.kubectl("get", "pods", "-l", "app.kubernetes.io/name=proxy", "-o", "jsonpath={.items[*].spec.nodeName}")) {
					nodes[node] = true
				}
				if len(nodes) != 3 {
					return fmt.Errorf("three proxies run on %d nodes", len(nodes))
				}
				return nil
			},
		)),
		after(func() {
			env.kubectl("set", "image", "deployment/api", "server=registry.example.com/other:1")
			env.kubectl("patch", "service", "gateway", "--type=json", "-p", `[{"op":"replace","path":"/spec/ports/0/targetPort","value":9}]`)
		}, updated(env.configFor(first, "scale_levels = { proxy = 2 }"), allChecks(env.checkBackend(),
			env.expectKubectl("https", "get", "service", "gateway", "-o", "jsonpath={.spec.ports[0].targetPort}"),
			env.expectKubectl("registry.example.com/gateway/api:1.0.0", "get", "deployment", "api", "-o", "jsonpath={.spec.template.spec.containers[0].image}"),
		))),
		updated(env.configFor(second, "scale_levels = { proxy = 2 }"), allChecks(env.checkBackend(),
			env.expectKubectl("3 registry.example.com/gateway/envoy:1.0.1", "get", "deployment", "proxy", "-o", jsonpath),
			env.expectKubectl("debug", "get", "configmap", "proxy-envoy", "-o", "jsonpath={.data.LOG_LEVEL}"),
			func(*terraform.State) error {
				if now := env.uid("deployment/proxy"); now != uid {
					return fmt.Errorf("the Deployment was replaced: %s is now %s", uid, now)
				}
				return nil
			},
		)),
	)
}

// legacyVNFD is a VNFD of the form that OpenStack Tacker had before SOL001.
const legacyVNFD = `tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0
metadata: { template_name: legacy, template_version: "1.0", template_author: Example Networks }
topology_template:
  node_templates:
    VDU1:
      type: tosca.nodes.nfv.VDU.Tacker
      properties:
        mapping_ports: [ "80:8080" ]
        labels: [ "app: webserver" ]
        service_type: ClusterIP
        vnfcs:
          front_end:
            num_cpus: 0.2
            mem_size: 100 MB
            image: registry.example.com/legacy/front:1.0
            ports: [ "8080" ]
            config: |
              param0: key1
  policies:
    - SP1:
        type: tosca.policies.tacker.Scaling
        targets: [ VDU1 ]
        properties: { min_instances: 1, max_instances: 3, default_instances: 2, increment: 1 }
`

// TestLegacyVNFD instantiates and scales a VNFD of Tacker's legacy form.
func TestLegacyVNFD(t *testing.T) {
	env := newEnv(t)
	dir := gateway(t, func(t testing.TB, dir string) { acctest.Write(t, dir, "gateway.yaml", legacyVNFD) })
	replicas := func(n string) resource.TestCheckFunc {
		return env.expectKubectl(n, "get", "deployment", "vdu1", "-o", "jsonpath={.spec.replicas}")
	}
	env.run(t,
		resource.TestStep{
			Config: env.configFor(dir),
			ConfigStateChecks: []statecheck.StateCheck{
				statecheck.ExpectKnownValue(address, tfjsonpath.New("flavour_id"), knownvalue.StringExact("default")),
				statecheck.ExpectKnownValue(address, tfjsonpath.New("vnfd_id"), knownvalue.StringExact("legacy")),
			},
			Check: allChecks(env.checkBackend(), replicas("2"),
				env.expectKubectl("key1", "get", "configmap", "vdu1-front-end", "-o", "jsonpath={.data.param0}"),
				env.expectKubectl("8080", "get", "service", "vdu1", "-o", "jsonpath={.spec.ports[0].targetPort}"),
			),
		},
		resource.TestStep{Config: env.configFor(dir, "scale_levels = { SP1 = 2 }"), ConfigPlanChecks: updates(), Check: replicas("3")},
		resource.TestStep{Config: env.configFor(dir, "scale_levels = { SP1 = 0 }"), ConfigPlanChecks: updates(), Check: replicas("1")},
	)
}

// TestBadContainers: a plan reports each error of a VNFD with its place.
func TestBadContainers(t *testing.T) {
	env := newEnv(t)
	bad := func(want, at string, edits ...edit) resource.TestStep {
		return resource.TestStep{
			Config: env.configFor(gateway(t, edits...)), PlanOnly: true,
			ExpectError: acctest.Says(`(?is)` + want + `.*at gateway\.yaml:` + at),
		}
	}
	env.run(t,
		bad(`node_templates\.envoy\.properties\.requested_cpu_resources must be a non-negative number, not "2 CPUs"`, `49:34`,
			inVNFD("requested_cpu_resources: 2000", "requested_cpu_resources: 2 CPUs")),
		bad(`the container "envoy" requests exclusive CPUs, but asks for 1500m`, `44:5\. Only whole CPUs can be exclusive`,
			inVNFD("requested_cpu_resources: 2000", "requested_cpu_resources: 1500")),
		bad(`the container exporter may use less than it requests: cpu_resource_limit is 20 and requested_cpu_resources is 50`, `66:29`,
			inVNFD("cpu_resource_limit: 50", "cpu_resource_limit: 20")),
		bad(`the storage "session_data" has no size`, `145:5\. Give it size_of_storage`,
			inVNFD("          size_of_storage: 1 GiB\n", "")),
		bad(`the policy "proxies_apart" has the scope "rack"`, `153:7\. A placement on Kubernetes has one of the scopes`, inVNFD("scope: nfvi_node", "scope: rack")),
	)
}
