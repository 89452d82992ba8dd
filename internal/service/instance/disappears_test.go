package instance_test

import (
	"fmt"
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
)

// TestAccInstance_objectDisappears makes again what somebody has deleted, and
// nothing else.
func TestAccInstance_objectDisappears(t *testing.T) {
	w := newWorld(t)
	var deployment string
	w.run(t,
		resource.TestStep{Config: w.config("hello", `scale_levels = { web = 1 }`)},
		resource.TestStep{
			PreConfig: func() {
				deployment = w.uid("deployment/web")
				w.kubectl("delete", "service", "web")
			},
			Config: w.config("hello", `scale_levels = { web = 1 }`),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
				expectPrior{key: "v1/Service web", text: ""},
				plancheck.ExpectKnownValue(address, tfjsonpath.New("objects"), knownvalue.MapSizeExact(3)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), replicas("web", 2), value("generation", knownvalue.Int64Exact(2))},
			Check: also(w.whole(), w.ends(t, "INSTANTIATE COMPLETED", "HEAL COMPLETED"), func(*terraform.State) error {
				if got := w.uid("deployment/web"); got != deployment {
					return fmt.Errorf("the Deployment was made anew")
				}
				return nil
			}),
		},
		resource.TestStep{
			// A workload comes back at the count that is wanted by now.
			PreConfig:         func() { w.kubectl("delete", "deployment", "web") },
			Config:            w.config("hello", `scale_levels = { web = 2 }`),
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), replicas("web", 3)},
			Check:             also(w.whole(), w.ends(t, "INSTANTIATE COMPLETED", "HEAL COMPLETED", "SCALE COMPLETED", "HEAL COMPLETED")),
		},
	)
}

// TestAccInstance_namespaceDisappears makes a namespace that the instance had
// made, and everything in it, again.
func TestAccInstance_namespaceDisappears(t *testing.T) {
	w := newWorld(t)
	same := statecheck.CompareValue(compare.ValuesSame())
	made := w.namespace + "-made"
	config := strings.Replace(w.config("hello"), w.namespace, made, 1)
	w.run(t,
		resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id"))}},
		resource.TestStep{
			PreConfig:         func() { w.kubectl("delete", "namespace", made) },
			Config:            config,
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), replicas("web", 1), same.AddStateValue(address, tfjsonpath.New("id"))},
			Check:             w.whole(),
		},
	)
	if got := w.kubectl("get", "namespace", made, "--ignore-not-found", "-o", "name"); got != "" {
		t.Errorf("left behind: %s", got)
	}
}

// TestAccInstance_vimDisappears cannot reach the VIM, or gets no answer in time: the
// plan goes on with what was known, and says so.
func TestAccInstance_vimDisappears(t *testing.T) {
	w := newWorld(t)
	config := w.store.Config(w.faultyVIM(), pkg(examplePackage(t, "hello")), w.instance())
	hurried := w.store.Config(w.faultyVIM(), pkg(examplePackage(t, "hello")), w.instance(`timeouts = { read = "3s" }`))
	warned := func(why string) {
		t.Helper()
		if err := w.heard.warned(`VNF Instance "test" Could Not Be Looked At: (?s).*` + why + `.*The plan goes on with what was known of it; drift is not seen there\.`)(nil); err != nil {
			t.Error(err)
		}
		w.lab.Fault(t, "clear")
	}
	w.run(t,
		resource.TestStep{Config: config, Check: w.heard.silent()},
		resource.TestStep{PreConfig: func() { w.lab.Fault(t, "cut") }, Config: config, PlanOnly: true},
		resource.TestStep{PreConfig: func() { warned(`VIM "test" cannot be reached`) }, Config: hurried},
		resource.TestStep{
			PreConfig: func() {
				w.heard.take()
				w.lab.Fault(t, "delay", "60s")
			},
			Config:   hurried,
			PlanOnly: true,
		},
		resource.TestStep{PreConfig: func() { warned(`The time limit was reached`) }, Config: hurried, PlanOnly: true},
	)
}

// TestAccInstance_recordDisappears loses the record: that is no lost instance. The
// next apply writes the record again and touches nothing on the VIM.
func TestAccInstance_recordDisappears(t *testing.T) {
	w := newWorld(t)
	same := statecheck.CompareValue(compare.ValuesSame())
	config := w.config("hello", `scale_levels = { web = 1 }`, `description = "kept"`)
	var uid string
	w.run(t,
		resource.TestStep{Config: config, ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id"))}},
		resource.TestStep{
			PreConfig: func() {
				uid = w.uid("deployment/web")
				s := w.store.Records(t)
				for _, i := range w.records(t) {
					if err := s.Delete(t.Context(), store.KindInstance, i.ID); err != nil {
						t.Error(err)
					}
				}
				w.heard.take()
			},
			RefreshState:       true,
			ExpectNonEmptyPlan: true,
			Check: also(resource.TestCheckResourceAttr(address, "status", "UNKNOWN"), resource.TestCheckResourceAttr(address, "objects.%", "3"),
				w.heard.warned(`Record of VNF Instance "test" Is Missing: (?s).*Terraform's state is kept\.`)),
		},
		resource.TestStep{
			Config:            config,
			ConfigPlanChecks:  updates(),
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), replicas("web", 2), same.AddStateValue(address, tfjsonpath.New("id"))},
			Check: also(w.whole(), func(*terraform.State) error {
				if got := w.uid("deployment/web"); got != uid {
					return fmt.Errorf("the Deployment was made anew")
				}
				if got := w.records(t); len(got) != 1 || got[0].Description != "kept" {
					return fmt.Errorf("records: %+v", got)
				}
				return nil
			}),
		},
	)
}
