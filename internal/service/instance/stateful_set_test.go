package instance_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// database is a StatefulSet that rolls out pod by pod.
const database = `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  replicas: 2
  serviceName: db
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db }, annotations: { FAIL } }
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{ name: db, image: "registry.example.com/hello/db:IMAGE" }]
`

// TestAccInstance_statefulSetComesBack has pods of a StatefulSet fail in its creation and in an update: a corrected value brings
// the first back, which the plan says, and a rollback the second, within the time limit of the update.
func TestAccInstance_statefulSetComesBack(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	config := func(image, fail string, arguments ...string) string {
		return env.configFor(hello(t, with(strings.NewReplacer("IMAGE", image, "FAIL", fail).Replace(database))), arguments...)
	}
	images := env.expectKubectl("registry.example.com/hello/db:2 True registry.example.com/hello/db:2 True",
		"get", "pods", "-l", "app=db", "-o", `jsonpath={range .items[*]}{.spec.containers[0].image} {.status.conditions[?(@.type=="Ready")].status} {end}`)
	env.run(t,
		resource.TestStep{
			Config:             config("1", "lab.vnf/fail: image", `on_failure = "resume"`, `timeouts = { create = "40s" }`),
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
			Check:              env.diagnostics.HasWarning(`pod db-0: Pending, ImagePullBackOff`),
		},
		applied(config("2", ""), allChecks(images, env.checkBackend(), env.diagnostics.HasWarning(
			`(?s)Pods that are not ready would block the roll-out of a StatefulSet: apps/v1/StatefulSet db: db-0\n`))),
		resource.TestStep{
			Config:      config("3", "lab.vnf/fail: image", `on_failure = "rollback"`, `timeouts = { update = "60s" }`),
			ExpectError: sentence(`CHANGE_VNFPKG of VNF instance`, `is ROLLED_BACK`, `pod db-1: Pending, ImagePullBackOff`, `The state before the operation is restored.`),
		},
		resource.TestStep{
			Config: config("2", ""),
			Check:  allChecks(images, env.checkBackend(), env.expectLastOperations(t, "INSTANTIATE COMPLETED", "CHANGE_VNFPKG ROLLED_BACK")),
		},
	)
}
