package instance_test

import (
	"errors"
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

func replicas(vdu string, n int64) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts").AtMapKey(vdu), knownvalue.Int64Exact(n))
}

func value(name string, v knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(address, tfjsonpath.New(name), v)
}

func instantiated() statecheck.StateCheck {
	return value("status", knownvalue.StringExact("INSTANTIATED"))
}

// TestAccInstance_life instantiates, changes everything that can be changed, and
// terminates.
func TestAccInstance_life(t *testing.T) {
	env := newEnv(t)
	deployed := func(want string) resource.TestCheckFunc {
		return func(*terraform.State) error {
			if got := env.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.status.availableReplicas}"); got != want {
				return fmt.Errorf("deployment has the replicas (wanted, available) %q, want %q", got, want)
			}
			return nil
		}
	}
	// A name, or an id of nothing: it ends neither the instance nor its namespace.
	rejected := func(argument, says string) resource.TestStep {
		return resource.TestStep{
			Config:   env.store.Config(acctest.VIM(t, env.lab, "test"), pkg(examplePackage(t, "hello")), env.instanceWith(argument)),
			PlanOnly: true, ExpectError: acctest.Says(`(?s)VIM or Package of VNF Instance "test" Not Found.*` + says),
		}
	}
	env.run(t,
		resource.TestStep{
			Config: env.config("hello"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("id")),
				plancheck.ExpectUnknownValue(address, tfjsonpath.New("status")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfd_id"), knownvalue.StringExact("0d2f8a4c-7f8e-4b2c-9a51-3f6d2c1e7a01")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("flavour_id"), knownvalue.StringExact("default")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("scale_status"), knownvalue.MapExact(map[string]knownvalue.Check{"web": knownvalue.Int64Exact(0)})),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts"), counts("web", 1)),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("drift"), knownvalue.Null()),
				plansObjects(3),
			}},
			ConfigStateChecks: []statecheck.StateCheck{
				instantiated(), replicas("web", 1),
				value("generation", knownvalue.Int64Exact(1)),
				value("operational_state", knownvalue.StringExact("started")),
				value("on_failure", knownvalue.Null()),
				value("namespace", knownvalue.StringExact(env.namespace)),
			},
			Check: allChecks(deployed("1 1"), env.checkBackend()),
		},
		rejected(`vim_id = "test"`, `"test" is the name of a VIM, and the argument takes its id. .*vnf_vim\.test\.id`),
		rejected(`vim_id = "3f1d8f8e-0000-4000-8000-000000000000"`, `no VIM with the id "3f1d8f8e-0000-4000-8000-000000000000"`),
		rejected(`package_id = "test"`, `"test" is the name of a VNF package, and the argument takes its id. .*vnf_package\.test\.id`),
		rejected(`package_id = "other@sha256:00"`, `no VNF package with the id "other@sha256:00"`),
		resource.TestStep{
			Config:   env.config("hello") + env.instanceNamed("second", `vim_id = "test"`),
			PlanOnly: true, ExpectError: acctest.Says(`(?s)VIM or Package of VNF Instance "second" Not Found.*"test" is the name of a VIM`),
		},
		updated(env.config("hello", `scale_levels = { web = 2 }`), deployed("3 3"), replicas("web", 3), value("generation", knownvalue.Int64Exact(2))),
		updated(env.config("hello", `description = "web of the test"`, `metadata = { site = "north" }`, `scale_levels = { web = 2 }`),
			deployed("3 3"), value("generation", knownvalue.Int64Exact(2)), value("description", knownvalue.StringExact("web of the test"))),
		updated(env.config("hello", `operational_state = "stopped"`, `scale_levels = { web = 2 }`), deployed("0"), replicas("web", 0)),
		updated(env.config("hello", `on_failure = "rollback"`, `force_conflicts = true`, `adopt_existing = true`, `termination = { type = "forceful" }`),
			allChecks(deployed("1 1"), env.checkBackend()), replicas("web", 1)),
		updated(env.config("hello", `additional_params = { "lcm-kubernetes-def-files" = ["Files/kubernetes/web.yaml"], vdu_mapping = { web = { kind = "Deployment", name = "web" } } }`, `timeouts = { create = "5m", update = "5m" }`),
			nil),
		resource.TestStep{
			ResourceName:            address,
			ImportState:             true,
			ImportStateVerify:       true,
			ImportStateVerifyIgnore: []string{"deletion_policy", "timeouts", "operations", "changes"},
		},
		resource.TestStep{
			ResourceName: address,
			ImportState:  true,
			ImportStateIdFunc: func(s *terraform.State) (string, error) {
				a := s.RootModule().Resources[address].Primary.Attributes
				return a["vim_id"] + "/" + a["namespace"] + "/" + a["name"], nil
			},
			ImportStateVerify:       true,
			ImportStateVerifyIgnore: []string{"deletion_policy", "timeouts", "operations", "changes"},
		},
		updated(strings.Replace(env.config("hello"), `name            = "test"`, `name            = "renamed"`, 1),
			env.expectKubectl("renamed", "get", "deployment", "web", "-o", `jsonpath={.metadata.annotations.vnf\.nfv-iac\.github\.io/instance}`), value("name", knownvalue.StringExact("renamed"))),
	)
}

// TestAccInstance_core5g lives the 5G core through both flavours and compares
// what was planned with what the server holds.
func TestAccInstance_core5g(t *testing.T) {
	env := newEnv(t)
	holds := func(n int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			if got := len(env.owned()); got != n {
				return fmt.Errorf("the server holds %d objects of the instance, want %d", got, n)
			}
			return nil
		}
	}
	env.run(t,
		applied(env.config("core5g"), allChecks(holds(60), env.checkBackend(60)), replicas("amf", 2), replicas("upf", 1),
			value("flavour_id", knownvalue.StringExact("standard")),
			value("instantiation_level_id", knownvalue.StringExact("minimal")),
			statecheck.ExpectKnownValue(address, tfjsonpath.New("vnfc_counts").AtMapKey("ausf"), knownvalue.Null())),
		updated(env.config("core5g", `instantiation_level_id = "regional"`), allChecks(holds(60), env.checkBackend()), replicas("amf", 4), replicas("smf", 4), replicas("upf", 5), replicas("udr", 2)),
		updated(env.config("core5g", `instantiation_level_id = "regional"`, `scale_levels = { user-plane = 1 }`),
			env.checkBackend(), replicas("upf", 2), replicas("amf", 4)),
		updated(env.config("core5g", `flavour_id = "compact"`), allChecks(holds(60), env.checkBackend()), replicas("amf", 1), replicas("upf", 1),
			value("instantiation_level_id", knownvalue.StringExact("edge"))),
	)
}

// TestAccInstance_drift changes and deletes objects behind Terraform's back and expects
// plans that name what was changed and applies that put it right, and nothing else.
func TestAccInstance_drift(t *testing.T) {
	env := newEnv(t)
	drifted := func(key, text string) plancheck.PlanCheck {
		return expectPrior{key: key, text: text}
	}
	var deployment string
	env.run(t,
		resource.TestStep{Config: env.config("hello", `scale_levels = { web = 1 }`)},
		resource.TestStep{
			PreConfig: func() {
				env.kubectl("set", "image", "deployment/web", "web=registry.example.com/hello/web:hotfix")
				env.kubectl("scale", "deployment/web", "--replicas=4")
				env.kubectl("patch", "configmap", "web-content", "--type=merge", "-p", `{"data":{"index.html":"changed"}}`)
				env.kubectl("label", "service", "web", "foreign=label")
			},
			Config: env.config("hello", `scale_levels = { web = 1 }`),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				drifted("apps/v1/Deployment web", "spec.replicas is 4, not 2, spec.template.spec.containers[name=web].image (changed by kubectl-set, lab-kubectl)"),
				drifted("v1/ConfigMap web-content", "data.index.html (changed by kubectl-patch)"),
				drifted("v1/Service web", ""),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), replicas("web", 2)},
			Check: func(*terraform.State) error {
				got := env.kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}")
				if got != "2 registry.example.com/hello/web:1.0.0" {
					return fmt.Errorf("repaired to %q", got)
				}
				if got := env.kubectl("get", "service", "web", "-o", "jsonpath={.metadata.labels.foreign}"); got != "label" {
					return fmt.Errorf("the foreign label became %q", got)
				}
				return nil
			},
		},
		resource.TestStep{
			// What was deleted is made again, and nothing else.
			PreConfig: func() {
				deployment = env.uid("deployment/web")
				env.kubectl("delete", "service", "web")
			},
			Config: env.config("hello", `scale_levels = { web = 1 }`),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				drifted("v1/Service web", "deleted"),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), replicas("web", 2), value("generation", knownvalue.Int64Exact(3))},
			Check: allChecks(env.checkBackend(), env.expectLastOperations(t, "INSTANTIATE COMPLETED", "HEAL COMPLETED", "HEAL COMPLETED"), func(*terraform.State) error {
				if got := env.uid("deployment/web"); got != deployment {
					return errors.New("the Deployment was replaced")
				}
				return nil
			}),
		},
		// A workload comes back at the count that is wanted by now.
		after(func() { env.kubectl("delete", "deployment", "web") }, updated(env.config("hello", `scale_levels = { web = 2 }`),
			allChecks(env.checkBackend(), env.expectLastOperations(t, "HEAL COMPLETED", "SCALE COMPLETED", "HEAL COMPLETED")), replicas("web", 3))),
		after(func() {
			env.kubectl("delete", "service/web", "deployment/web", "configmap/web-content")
		}, updated(env.config("hello", `scale_levels = { web = 2 }`), env.checkBackend(3), replicas("web", 3))),
	)
}
