package instance_test

import (
	"fmt"
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

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccInstance_namespaceDisappears makes a namespace that the instance had
// made, and everything in it, again.
func TestAccInstance_namespaceDisappears(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	same := statecheck.CompareValue(compare.ValuesSame())
	made := env.namespace + "-made"
	config := strings.Replace(env.config("hello"), env.namespace, made, 1)
	env.run(t,
		resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id"))}},
		after(func() { env.kubectl("delete", "namespace", made) }, updated(config, env.checkBackend(), replicas("web", 1), same.AddStateValue(address, tfjsonpath.New("id")))),
	)
	if got := env.kubectl("get", "namespace", made, "--ignore-not-found", "-o", "name"); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

// TestAccInstance_vimDisappears cannot reach the VIM, or gets no answer in time: the
// plan goes on with what was known, and says so.
func TestAccInstance_vimDisappears(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	config := env.store.Config(env.faultyVIM(), pkg(examplePackage(t, "hello")), env.instance())
	hurried := env.store.Config(env.faultyVIM(), pkg(examplePackage(t, "hello")), env.instance(`timeouts = { read = "3s" }`))
	expectWarning := func(why string) {
		t.Helper()
		if err := env.diagnostics.HasWarning(`VNF Instance "test" Could Not Be Refreshed: (?s).*` + why + `.*The plan uses the last known state; drift there is not detected\.`)(nil); err != nil {
			t.Error(err)
		}
		env.lab.Fault(t, "clear")
	}
	env.run(t,
		resource.TestStep{Config: config, Check: env.diagnostics.NoWarnings()},
		resource.TestStep{PreConfig: func() { env.lab.Fault(t, "cut") }, Config: config, PlanOnly: true},
		resource.TestStep{PreConfig: func() { expectWarning(`VIM "test" cannot be reached`) }, Config: hurried},
		resource.TestStep{
			PreConfig: func() {
				env.diagnostics.Discard()
				env.lab.Fault(t, "delay", "60s")
			},
			Config:   hurried,
			PlanOnly: true,
		},
		resource.TestStep{PreConfig: func() { expectWarning(`The time limit was reached`) }, Config: hurried, PlanOnly: true},
	)
}

// TestAccInstance_recordDisappears loses the record: that is not a lost instance. The refresh
// writes the record again, the plan is empty, and nothing on the VIM is touched.
func TestAccInstance_recordDisappears(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	same := statecheck.CompareValue(compare.ValuesSame())
	config := env.config("hello", `scale_levels = { web = 1 }`, `description = "kept"`)
	var uid string
	env.run(t,
		resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id"))}},
		resource.TestStep{
			PreConfig: func() {
				uid = env.uid("deployment/web")
				s := env.store.Records(t)
				for _, i := range env.records(t) {
					if err := s.Delete(t.Context(), store.KindInstance, i.ID); err != nil {
						t.Error(err)
					}
				}
				env.diagnostics.Discard()
			},
			Config:            config,
			ConfigPlanChecks:  planned(plancheck.ResourceActionNoop),
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), replicas("web", 2), value("generation", knownvalue.Int64Exact(1)), same.AddStateValue(address, tfjsonpath.New("id"))},
			Check: allChecks(env.checkBackend(), env.diagnostics.HasWarning(`Records Were Missing in the Store and Were Written Again: (?s).*VNF Instance "test"`), func(*terraform.State) error {
				if got := env.operations(t); !slices.Equal(got, []string{"INSTANTIATE COMPLETED"}) {
					return fmt.Errorf("operations: %v", got)
				}
				if got := env.uid("deployment/web"); got != uid {
					return fmt.Errorf("the Deployment was replaced")
				}
				if got := env.records(t); len(got) != 1 || got[0].Description != "kept" {
					return fmt.Errorf("records: %+v", got)
				}
				return nil
			}),
		},
	)
}
