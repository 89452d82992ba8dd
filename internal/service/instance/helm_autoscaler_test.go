package instance_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

// autoscaled puts the VDU cscf under an autoscaler of the chart.
func autoscaled(t testing.TB, dir string) {
	t.Helper()
	chartFile("templates/autoscaler.yaml", `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: {{ .Release.Name }}-cscf }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ .Release.Name }}-cscf }
  minReplicas: 1
  maxReplicas: 5
  metrics: [ { type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } } ]
`)(t, dir)
}

// TestAccInstance_helmAutoscaler leaves the replicas of a VDU to the autoscaler of the
// chart, whatever the chart's own value of them is: neither a refresh, nor new values,
// nor a new package changes them.
func TestAccInstance_helmAutoscaler(t *testing.T) {
	env := newEnv(t)
	first := ims(t, autoscaled)
	second := ims(t, autoscaled, inChart("values.yaml", "tag: 1.0.0", "tag: 2.0.0"), inChart("Chart.yaml", "version: 1.0.0\nappVersion", "version: 1.1.0\nappVersion"))
	config := func(source, domain string) string {
		return env.configFor(source, chartParams(byValue, fmt.Sprintf(`helm_parameters = { "cscf.domain" = %q }`, domain)), "scale_levels = { calls = 1 }")
	}
	desired := func(n int) {
		env.kubectl("annotate", "--overwrite", "hpa", "test-cscf", fmt.Sprintf("lab.vnf/desired-replicas=%d", n))
		env.kubectl("wait", "deployment/test-cscf", fmt.Sprintf("--for=jsonpath={.status.availableReplicas}=%d", n), "--timeout=120s")
	}
	var upTo func(func(event) bool) []event
	env.run(t,
		applied(config(first, "one.example.org"), allChecks(env.checkBackend(), env.history("1 deployed")), statecheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts").AtMapKey("cscf"), knownvalue.Null())),
		resource.TestStep{PreConfig: func() { desired(3) }, Config: config(first, "one.example.org"), PlanOnly: true},
		after(func() { upTo = env.watch(t, "apis/apps/v1", "deployments") }, updated(config(first, "two.example.org"), allChecks(env.checkBackend(), env.history("1 superseded", "2 deployed")))),
		updated(config(second, "two.example.org"), allChecks(env.checkBackend(), env.history("1 superseded", "2 superseded", "3 deployed"),
			env.expectKubectl("3 registry.example.com/ims/cscf:2.0.0", "get", "deployment", "test-cscf", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}"),
			func(*terraform.State) error {
				// A mark at the end of what is to be looked at.
				env.kubectl("annotate", "deployment", "test-cscf", "example.com/mark=end")
				last := env.kubectl("get", "deployment", "test-cscf", "-o", "jsonpath={.metadata.resourceVersion}")
				seen := 0
				for _, e := range upTo(func(e event) bool { return e.Object.Metadata.ResourceVersion == last }) {
					if e.Object.Metadata.Name != "test-cscf" {
						continue
					}
					seen++
					if n := e.Object.Spec.Replicas; n == nil || *n != 3 {
						return fmt.Errorf("at version %s there were other replicas: %+v", e.Object.Metadata.ResourceVersion, e.Object)
					}
				}
				if seen < 2 {
					return fmt.Errorf("%d changes were seen", seen)
				}
				return nil
			})),
	)
}
