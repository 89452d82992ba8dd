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

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// withHook adds a Job to the chart of the package ims-helm which is a hook, and whose
// pod does what the fault of the lab says.
func withHook(name, annotations, how string) edit {
	return chartFile("templates/"+name+".yaml", fmt.Sprintf(`apiVersion: batch/v1
kind: Job
metadata: { name: {{ .Release.Name }}-%[1]s, annotations: { %[2]s } }
spec:
  backoffLimit: 0
  template:
    metadata: { annotations: { %[3]s } }
    spec:
      restartPolicy: Never
      containers: [ { name: %[1]s, image: registry.example.com/ims/%[1]s:1.0.0 } ]
`, name, annotations, how))
}

const (
	fails     = "lab.vnf/fail: crash"
	neverEnds = "lab.vnf/fail: never-ready"
)

// TestAccInstance_helmHookBefore creates an instance whose first hook fails: nothing
// of the chart is made, the instance says why, and the next apply goes on.
func TestAccInstance_helmHookBefore(t *testing.T) {
	env := newEnv(t)
	const when = `helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: "hook-failed,before-hook-creation"`
	env.run(t,
		resource.TestStep{
			Config:             env.configFor(ims(t, withHook("migrate", when, fails)), chartParams(byValue), resume),
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
			Check: allChecks(env.history("1 failed"), env.expectKubectl("", "get", "deployments,jobs", "-o", "name"),
				env.diagnostics.HasWarning(`(?s)Is Not Instantiated Yet: .*the pre-install hook batch/v1/Job test-migrate \(`+imsChart+`templates/migrate.yaml\) failed: .*BackoffLimitExceeded.*panic: cannot reach database.*entered FAILED_TEMP`)),
		},
		resource.TestStep{
			Config: env.configFor(ims(t, withHook("migrate", when, "")), chartParams(byValue)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("operations").AtSliceIndex(3), knownvalue.StringExact("  before it: pre-install hook Job test-migrate")),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), env.history("1 failed", "2 deployed"), env.expectLastOperations(t, "INSTANTIATE COMPLETED"),
				env.expectKubectl("job.batch/test-migrate", "get", "jobs", "-o", "name")),
		},
	)
}

// TestAccInstance_helmHookRollback removes everything when a hook of the creation
// fails, also what hooks have made.
func TestAccInstance_helmHookRollback(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	env.runCase(t, resource.TestCase{Steps: []resource.TestStep{
		{
			Config: env.configFor(ims(t, withHook("prepare", "helm.sh/hook: pre-install", ""), withHook("check", "helm.sh/hook: post-install", fails)), `on_failure = "rollback"`),
			ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`, "post-install hook batch/v1/Job test-check", "failed",
				"panic: cannot reach database", `everything that was created has been removed (on_failure = "rollback")`),
		},
	}})
	if got := env.kubectl("get", "configmaps,secrets,jobs,deployments,statefulsets", "-o", "name"); got != "configmap/kube-root-ca.crt" {
		t.Errorf("after the rollback there are: %s", got)
	}
}

// TestAccInstance_helmHookNeverEnds lets the time of the operation end while a hook
// runs: the instance says which one, and the next apply runs it again.
func TestAccInstance_helmHookNeverEnds(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	config := func(how string) string {
		return env.configFor(ims(t, withHook("migrate", "helm.sh/hook: pre-install", how)), chartParams(byValue), resume, `timeouts = { create = "20s" }`)
	}
	var first string
	env.run(t,
		resource.TestStep{
			Config:             config(neverEnds),
			ExpectNonEmptyPlan: true,
			ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
			Check: allChecks(env.history("1 failed"), env.expectKubectl("job.batch/test-migrate", "get", "jobs", "-o", "name"),
				func(*terraform.State) error { first = env.uid("job/test-migrate"); return nil },
				env.diagnostics.HasWarning(`(?s)Is Not Instantiated Yet: .*the pre-install hook batch/v1/Job test-migrate .*failed: .*not ready after [0-9.]+s .*pod test-migrate-\w+: Running, ContainersNotReady.*entered FAILED_TEMP`)),
		},
		updated(config(""), allChecks(env.checkBackend(), env.history("1 failed", "2 deployed"), func(*terraform.State) error {
			if env.uid("job/test-migrate") == first {
				return fmt.Errorf("the hook that was interrupted was not run again")
			}
			return nil
		})),
	)
}

// TestAccInstance_helmForceful terminates an instance whose hooks do not let it go.
func TestAccInstance_helmForceful(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	config := func(arguments ...string) string {
		return env.configFor(ims(t, withHook("bye", `helm.sh/hook: "pre-delete,post-delete"`, fails)), append(arguments, chartParams(byValue))...)
	}
	env.run(t,
		resource.TestStep{Config: config(), ConfigStateChecks: []statecheck.StateCheck{instantiated()}},
		resource.TestStep{
			Config:  config(),
			Destroy: true,
			ExpectError: sentence(`Unable to Terminate VNF Instance "test"`, "pre-delete hook batch/v1/Job test-bye", "failed", "panic: cannot reach database",
				`a forceful termination runs no hooks: apply with termination.type = "forceful", then destroy`),
		},
		after(func() {
			if err := allChecks(env.history("1 uninstalling"), env.expectKubectl("deployment.apps/test-cscf", "get", "deployments", "-o", "name"))(nil); err != nil {
				t.Error(err)
			}
		}, updated(config(`termination = { type = "forceful" }`), allChecks(env.checkBackend(), env.history("1 superseded", "2 deployed")))),
	)
	if got := strings.Fields(env.kubectl("get", "deployments,jobs,secrets", "-o", "name")); len(got) > 0 {
		t.Errorf("after the forceful termination there are: %v", got)
	}
}
