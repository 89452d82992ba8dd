package instance_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// withoutRollOut has a workload of each kind that keeps its pods when its template changes,
// and what they read.
const withoutRollOut = `apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { level: LEVEL }
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: { name: set }
spec:
  replicas: 2
  selector: { matchLabels: { app: set } }
  template:
    metadata: { labels: { app: set }, annotations: { FAIL } }
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{ name: a, image: "registry.example.com/hello/set:IMAGE", envFrom: [{ configMapRef: { name: settings } }] }]
---
apiVersion: v1
kind: ReplicationController
metadata: { name: controller }
spec:
  replicas: 1
  selector: { app: controller }
  template:
    metadata: { labels: { app: controller } }
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{ name: a, image: registry.example.com/hello/rc:1, envFrom: [{ configMapRef: { name: settings } }] }]
---
apiVersion: v1
kind: Pod
metadata: { name: bare, labels: { app: bare } }
spec:
  terminationGracePeriodSeconds: 0
  containers: [{ name: a, image: registry.example.com/hello/bare:1, envFrom: [{ configMapRef: { name: settings } }] }]
`

// TestAccInstance_podsWithoutRollOut changes what pods read and run whose workloads do not
// roll it out: all of them are replaced, and no others. A change that fails stops at the
// first pod, and the next apply replaces the rest.
func TestAccInstance_podsWithoutRollOut(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	config := func(level, image, fail string, arguments ...string) string {
		return env.configFor(hello(t, with(strings.NewReplacer("LEVEL", level, "IMAGE", image, "FAIL", fail).Replace(withoutRollOut))), arguments...)
	}
	var before map[string]string
	remember := func() { before = env.pods() }
	same := func(want ...string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			count := map[string]int{}
			for name, uid := range env.pods() {
				app, _, _ := strings.Cut(name, "-")
				count["all"]++
				if before[name] == uid {
					count[app]++
				}
			}
			got := fmt.Sprintf("all:%d set:%d controller:%d bare:%d", count["all"], count["set"], count["controller"], count["bare"])
			if got != strings.Join(want, " ") {
				return fmt.Errorf("pods that are still there: %s, want %s", got, strings.Join(want, " "))
			}
			return nil
		}
	}
	images := env.expectKubectl("registry.example.com/hello/set:3 registry.example.com/hello/set:3",
		"get", "pods", "-l", "app=set", "-o", "jsonpath={.items[*].spec.containers[0].image}")
	debug := config("debug", "1", "")
	env.run(t,
		resource.TestStep{Config: config("info", "1", ""), Check: env.diagnostics.NoWarnings()},
		resource.TestStep{
			PreConfig: remember, Config: debug,
			Check: allChecks(same("all:5", "set:0", "controller:0", "bare:0"), env.checkBackend(), env.diagnostics.HasWarning(
				`(?s)The apply replaces pods of workloads that have no roll-out of their own: apps/v1/ReplicaSet set: its pods are deleted one after the other.*`+
					`v1/Pod bare: the pod is deleted and created again.*v1/ReplicationController controller: its pods`)),
		},
		resource.TestStep{PreConfig: remember, Config: debug, PlanOnly: true},
		resource.TestStep{
			Config:      config("debug", "2", "lab.vnf/fail: crash", `timeouts = { update = "20s" }`),
			ExpectError: regexp.MustCompile(`(?s)replacing\s+the\s+pods\s+of\s+apps/v1/ReplicaSet\s+set`),
		},
		resource.TestStep{
			// The first attempt has taken one pod, and the other one still serves.
			PreConfig: func() {
				if err := same("all:5", "set:1", "controller:1", "bare:1")(nil); err != nil {
					t.Error(err)
				}
			},
			Config: config("debug", "3", ""),
			Check:  allChecks(same("all:5", "set:0", "controller:1", "bare:1"), images, env.checkBackend()),
		},
	)
}
