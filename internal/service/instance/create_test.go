package instance_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

func failedTemp() statecheck.StateCheck {
	return value("status", knownvalue.StringExact("FAILED_TEMP"))
}

// TestAccInstance_createTimeout lets the time end while a pod is not ready: a
// warning that names it, a state that tells the truth, and a plan that resumes,
// with a refresh and without one.
func TestAccInstance_createTimeout(t *testing.T) {
	labtest.FullRun(t, failures)
	t.Parallel()
	for name, noRefresh := range map[string]bool{"refresh": false, "no refresh": true} {
		t.Run(name, func(t *testing.T) {
			env := newEnv(t)
			same := statecheck.CompareValue(compare.ValuesSame())
			config := env.configFor(hello(t, failing("never-ready")), resume, `timeouts = { create = "25s" }`)
			env.runCase(t, resource.TestCase{
				AdditionalCLIOptions: &resource.AdditionalCLIOptions{Plan: resource.PlanOptions{NoRefresh: noRefresh}},
				Steps: []resource.TestStep{
					{
						Config:             config,
						ExpectNonEmptyPlan: true,
						ConfigStateChecks: []statecheck.StateCheck{
							failedTemp(), value("generation", knownvalue.Int64Exact(0)), value("drift", knownvalue.Null()),
							same.AddStateValue(address, tfjsonpath.New("id")),
						},
						Check: allChecks(env.checkBackend(),
							env.diagnostics.HasWarning(`VNF Instance "test" Is Not Instantiated Yet: (?s).*Deployment `+env.namespace+`/web.*Operation .* entered FAILED_TEMP.*apply again: the operation continues where it stopped`)),
					},
					{
						PreConfig: env.makePodsReady,
						Config:    config,
						ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
							plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
							plancheck.ExpectUnknownValue(address, tfjsonpath.New("status")),
						}},
						ConfigStateChecks: []statecheck.StateCheck{
							instantiated(), value("generation", knownvalue.Int64Exact(1)),
							same.AddStateValue(address, tfjsonpath.New("id")),
						},
						Check: allChecks(env.checkBackend(), env.diagnostics.NoWarnings(), func(*terraform.State) error {
							if got := env.operations(t); !slices.Equal(got, []string{"INSTANTIATE COMPLETED"}) {
								return fmt.Errorf("operations: %v", got)
							}
							return nil
						}),
					},
				},
			})
		})
	}
}

// TestAccInstance_createInterrupted stops a creation as Ctrl-C does: what exists
// stays, also when a failure would be rolled back, and the next apply goes on.
func TestAccInstance_createInterrupted(t *testing.T) {
	labtest.FullRun(t, failures)
	t.Parallel()
	for _, onFailure := range []string{"fail", "rollback"} {
		t.Run(onFailure, func(t *testing.T) {
			env := newEnv(t)
			config := env.configFor(hello(t, failing("never-ready")), fmt.Sprintf("on_failure = %q", onFailure))
			env.diagnostics.InterruptApply("vnf_instance", func() {
				env.kubectl("wait", "--for=create", "deployment/web", "--timeout=120s")
			})
			env.run(t,
				resource.TestStep{
					Config:             config,
					ExpectNonEmptyPlan: true,
					ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
					Check:              allChecks(env.checkBackend(), env.diagnostics.HasWarning(`VNF Instance "test" Is Not Instantiated Yet: (?s).*context canceled`)),
				},
				after(func() {
					env.kubectl("wait", "--for=create", "pods", "-l", "app.kubernetes.io/name=web", "--timeout=120s")
					env.makePodsReady()
				}, updated(config, allChecks(env.checkBackend(), env.expectLastOperations(t, "INSTANTIATE COMPLETED")))),
			)
		})
	}
}

// TestAccInstance_createFailed fails for good: the apply is red, what exists stays, and the next apply
// says that it starts over, and does.
func TestAccInstance_createFailed(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	env.run(t,
		resource.TestStep{
			Config: env.configFor(hello(t, with(failedJob))),
			ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`, `Job `+env.namespace+`/migrate`, `panic: cannot reach database`,
				`Terraform marks the resource as tainted`, `run "terraform untaint"`, `the operation continues where it stopped; or apply at once`),
		},
		resource.TestStep{
			PreConfig: func() {
				if got := env.kubectl("get", "job", "-o", "name"); got != "job.batch/migrate" {
					t.Errorf("of the failed creation there is %q", got)
				}
			},
			Config:            env.configFor(hello(t)),
			ConfigPlanChecks:  planned(plancheck.ResourceActionDestroyBeforeCreate),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check: allChecks(env.checkBackend(), env.expectKubectl("", "get", "job", "-o", "name"), env.expectLastOperations(t, "INSTANTIATE COMPLETED"),
				env.diagnostics.HasWarning(`(?s)VNF Instance "test" Exists and Is Incomplete: .*the apply destroys what exists and starts over.*terraform untaint`)),
		},
	)
}

// TestAccInstance_createRollback removes everything again and returns an error.
func TestAccInstance_createRollback(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	env.run(t,
		resource.TestStep{
			Config:      env.configFor(hello(t, with(failedJob)), `on_failure = "rollback"`),
			ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`, `migrate`, `everything that was created has been removed (on_failure = "rollback")`),
		},
		resource.TestStep{
			PreConfig:         func() { env.expectNothing(t) },
			Config:            env.configFor(hello(t), `on_failure = "rollback"`),
			ConfigPlanChecks:  planned(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
		},
	)
}

// sentence matches texts in their order, whatever line breaks Terraform has put
// into them.
func sentence(texts ...string) *regexp.Regexp { return acctest.Says(pattern(texts...)) }

// pattern is the pattern of acctest.Says of a sentence.
func pattern(texts ...string) string {
	parts := make([]string, 0, len(texts))
	for _, text := range texts {
		parts = append(parts, regexp.QuoteMeta(strings.Join(strings.Fields(text), " ")))
	}
	return `(?s)` + strings.Join(parts, `.*`)
}

// TestAccInstance_foreignObject meets an object that nobody manages: an error
// that names it, and nothing is written. adopt_existing takes it over, its fields
// only by force.
func TestAccInstance_foreignObject(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	env.kubectl("create", "configmap", "web-content", "--from-literal=index.html=mine")
	version := func() string {
		return env.kubectl("get", "configmap", "web-content", "-o", "jsonpath={.metadata.resourceVersion}")
	}
	before := version()
	untouched := func() {
		env.expectNothing(t)
		if after := version(); after != before {
			t.Errorf("the object was written: version %s became %s", before, after)
		}
		if got := env.kubectl("get", "deployments", "-o", "name"); got != "" {
			t.Errorf("made in spite of the conflict: %s", got)
		}
	}
	// Without the Service the ConfigMap is alone in its wave.
	dir := hello(t, func(t testing.TB, dir string) {
		text := env.lab.ReadFile(t, filepath.Join(dir, webFile))
		documents := strings.Split(text, "---\n")
		acctest.Write(t, dir, webFile, documents[0]+"---\n"+documents[2])
	})
	content := func(text string) resource.TestCheckFunc {
		return env.expectKubectl(text, "get", "configmap", "web-content", "-o", `jsonpath={.data.index\.html}`)
	}
	adopted := resource.TestStep{
		Config:             env.configFor(dir, `adopt_existing = true`, resume),
		ExpectNonEmptyPlan: true,
		ConfigStateChecks:  []statecheck.StateCheck{failedTemp()},
		Check: allChecks(content("mine"),
			env.diagnostics.HasWarning(`ConfigMap `+env.namespace+`/web-content: other managers own fields that the manifest sets: \.data\.index\.html \(owned by "kubectl-create"\).*force_conflicts`)),
	}
	env.run(t,
		resource.TestStep{
			Config: env.configFor(dir),
			ExpectError: sentence(`ConfigMap `+env.namespace+`/web-content (`, `written by kubectl-create) belongs to no VNF instance: it existed before; remove it, or set adopt_existing to take it over.`,
				`Objects of other owners were not changed.`),
		},
		// Now that the VIM is registered the plan finds it.
		resource.TestStep{
			Config: env.configFor(dir), PlanOnly: true,
			ExpectError: sentence(`Objects of the planned instance exist already on VIM`, `ConfigMap `+env.namespace+`/web-content (`, webFile, `belongs to no VNF instance`, `set adopt_existing to take it over`),
		},
		after(untouched, adopted),
		// An object that was to be taken over and could not be is left alone.
		resource.TestStep{Config: env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(dir)), Check: content("mine")},
		adopted,
		updated(env.configFor(dir, `adopt_existing = true`, `force_conflicts = true`), allChecks(env.checkBackend(), content("<h1>Hello from a VNF</h1>"))),
	)
}

// second returns another instance of the same package.
func (env *testEnv) second(arguments ...string) string {
	text := strings.Replace(env.instance(arguments...), `"vnf_instance" "test"`, `"vnf_instance" "second"`, 1)
	return text + "\n"
}

// TestAccInstance_objectOfAnother refuses a second instance of one name, whether the first one is made by the same apply or older, and
// an object of another instance, also with adopt_existing.
func TestAccInstance_objectOfAnother(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	second := func(arguments ...string) string {
		arguments = append(arguments, `adopt_existing = true`, `force_conflicts = true`, `depends_on = [vnf_instance.test]`)
		return strings.Replace(env.second(arguments...), `= "test"`, `= "second"`, 1)
	}
	refused := func(summary string) *regexp.Regexp {
		return sentence(summary, env.namespace+`/web`, `belongs to VNF instance "test" (`, `): an object can belong to one instance only; use another namespace, or another package`)
	}
	taken := sentence(`Unable to Instantiate VNF Instance "test"`, `name "test" in namespace "`+env.namespace+`" of VIM`, `belongs to VNF instance`, `choose another name, or import that instance`)
	env.run(t,
		resource.TestStep{Config: env.config("hello") + env.second(`depends_on = [vnf_instance.test]`), ExpectError: taken},
		resource.TestStep{Config: env.config("hello"), PlanOnly: true},
		resource.TestStep{Config: env.config("hello") + env.second(), ExpectError: taken},
		applied(env.config("hello"), nil),
		resource.TestStep{Config: env.config("hello") + second(), PlanOnly: true, ExpectError: refused(`Objects of the planned instance exist already`)},
		resource.TestStep{Config: env.config("hello") + second(`server_dry_run = false`), ExpectError: refused(`Unable to Instantiate VNF Instance "second"`)},
		resource.TestStep{
			Config:           env.config("hello"),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			Check: allChecks(env.checkBackend(), func(*terraform.State) error {
				if got := env.records(t); len(got) != 1 {
					return fmt.Errorf("records: %+v", got)
				}
				return nil
			}),
		},
	)
}

// during does something between plan and apply.
type during func()

// CheckPlan implements plancheck.PlanCheck.
func (d during) CheckPlan(context.Context, plancheck.CheckPlanRequest, *plancheck.CheckPlanResponse) {
	d()
}

// TestAccInstance_contentChanged changes the package between plan and apply: what
// was planned is not what would be made, so nothing is made. Terraform itself says
// so, since it plans once more when it applies.
func TestAccInstance_contentChanged(t *testing.T) {
	env := newEnv(t)
	dir := hello(t)
	env.run(t,
		resource.TestStep{
			Config: env.configFor(dir),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{during(func() {
				manifests("web:1.0.0", "web:9.9.9")(t, dir)
				acctest.Hash(t, dir)
			})}},
			ExpectError: sentence(`Provider produced inconsistent final plan`, `vnf_package.test`, `invalid new value for .digest`),
		},
		after(func() { env.expectNothing(t) }, applied(env.configFor(dir), env.expectKubectl("registry.example.com/hello/web:9.9.9", "get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}"))),
	)
}

// TestAccInstance_createUnreachable cannot reach the VIM: an error, and neither
// state nor record.
func TestAccInstance_createUnreachable(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	vim := env.faultyVIM()
	config := env.store.Config(vim, pkg(examplePackage(t, "hello")), env.instance())
	env.run(t,
		resource.TestStep{Config: env.store.Config(vim, pkg(examplePackage(t, "hello")))},
		resource.TestStep{
			PreConfig:   func() { env.lab.Fault(t, "cut") },
			Config:      strings.Replace(config, `name            = "test"`, "name            = \"test\"\n  timeouts        = { create = \"5s\" }", 1),
			ExpectError: sentence(`Unable to Instantiate VNF Instance "test"`),
		},
		resource.TestStep{
			PreConfig: func() {
				env.expectNothing(t)
				env.lab.Fault(t, "clear")
			},
			Config:            config,
			ConfigPlanChecks:  planned(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{instantiated()},
			Check:             env.checkBackend(),
		},
	)
}

// faultyVIM is the VIM behind the proxy whose connections can be broken.
func (env *testEnv) faultyVIM() string {
	lab := env.lab
	lab.Endpoint = lab.FaultyEndpoint(env)
	return acctest.VIM(env, lab, "test")
}

// TestAccInstance_postcondition makes an apply red whose instance is not ready,
// without a taint: the next plan resumes. The provider says that failed creations resume.
func TestAccInstance_postcondition(t *testing.T) {
	env := newEnv(t)
	condition := `lifecycle {
    postcondition {
      condition     = self.status == "INSTANTIATED"
      error_message = "The instance is ${self.status}."
    }
  }`
	resuming := func(config string) string {
		return strings.Replace(config, "provider \"vnf\" {", "provider \"vnf\" {\n  "+resume, 1)
	}
	env.run(t,
		resource.TestStep{
			Config:      resuming(env.configFor(hello(t, with(failedJob)), condition)),
			ExpectError: sentence(`The instance is FAILED_TEMP.`),
		},
		updated(resuming(env.configFor(hello(t), condition)), env.checkBackend()),
		// The default of the provider is that of operations, and changes no resource.
		resource.TestStep{Config: env.configFor(hello(t), condition), ConfigPlanChecks: planned(plancheck.ResourceActionNoop)},
	)
}
