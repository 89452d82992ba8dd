package instance_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
)

// pods are the UIDs of the pods of the namespace by their names.
func (env *testEnv) pods() map[string]string {
	env.Helper()
	out := map[string]string{}
	text := env.kubectl("get", "pods", "-o", "go-template={{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.name}}={{.metadata.uid}} {{end}}{{end}}")
	for _, line := range strings.Fields(text) {
		name, uid, _ := strings.Cut(line, "=")
		out[name] = uid
	}
	return out
}

// TestAccInstance_heal replaces a named VNFC, a VDU and everything, once for each
// trigger, and nothing for the trigger that the instance was created with.
func TestAccInstance_heal(t *testing.T) {
	env := newEnv(t)
	var before map[string]string
	healed := func(kept int) resource.TestCheckFunc {
		return func(*terraform.State) error {
			after := env.pods()
			same := 0
			for name, uid := range before {
				if after[name] == uid {
					same++
				}
			}
			if len(after) != 2 || same != kept {
				return fmt.Errorf("%d of the pods %v are still there of %v, want %d", same, before, after, kept)
			}
			return nil
		}
	}
	config := func(heal string) string { return env.config("hello", "scale_levels = { web = 1 }", heal) }
	generation := func(n int64) []statecheck.StateCheck {
		return []statecheck.StateCheck{instantiated(), value("generation", knownvalue.Int64Exact(n))}
	}
	remember := func() { before = env.pods() }
	// Configurations are composed before the steps run, so Terraform reads the name
	// of the victim out of a file.
	victim := filepath.Join(t.TempDir(), "victim")
	choose := func() {
		remember()
		if err := os.WriteFile(victim, []byte(slices.Sorted(maps.Keys(before))[0]), 0o600); err != nil {
			t.Error(err)
		}
	}
	named := func(trigger string) string {
		return config(fmt.Sprintf(`heal = { trigger = %q, cause = "it hangs", vnfc_ids = ["web-${file(%q)}"] }`, trigger, victim))
	}
	update := func(step resource.TestStep) resource.TestStep {
		step.ConfigPlanChecks = resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
			plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
			plancheck.ExpectUnknownValue(address, tfjsonpath.New("generation")),
		}}
		return step
	}
	env.run(t,
		resource.TestStep{Config: config(`heal = { trigger = "at birth" }`), ConfigStateChecks: generation(1)},
		resource.TestStep{PreConfig: remember, Config: config(`heal = { trigger = "at birth", vdu_ids = ["web"] }`), Check: healed(2), ConfigStateChecks: generation(1)},
		update(resource.TestStep{PreConfig: choose, Config: named("4711"), Check: healed(1), ConfigStateChecks: generation(2)}),
		// The VNFC that the trigger named before no longer exists.
		resource.TestStep{Config: named("4712"), ExpectError: sentence(`The VNF instance has no VNFC "web-`, `Its VNFCs are "web-`)},
		update(resource.TestStep{PreConfig: remember, Config: config(`heal = { trigger = "4713", vdu_ids = ["web"] }`), Check: healed(0), ConfigStateChecks: generation(3)}),
		update(resource.TestStep{PreConfig: remember, Config: config(`heal = { trigger = "4714" }`), Check: allChecks(healed(0), env.checkBackend()), ConfigStateChecks: generation(4)}),
		resource.TestStep{PreConfig: remember, Config: config(""), Check: healed(2), ConfigStateChecks: generation(4)},
	)
}

// TestAccInstance_scaleInVNFC names the VNFC that goes when the VDU is scaled in.
func TestAccInstance_scaleInVNFC(t *testing.T) {
	env := newEnv(t)
	victims := filepath.Join(t.TempDir(), "victims")
	var before map[string]string
	choose := func(n int) func() {
		return func() {
			before = env.pods()
			var ids []string
			for _, name := range slices.Sorted(maps.Keys(before))[:n] {
				ids = append(ids, "web-"+name)
			}
			if err := os.WriteFile(victims, []byte(strings.Join(ids, " ")), 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	config := func(level int) string {
		return env.config("hello", fmt.Sprintf("scale_levels = { web = %d }", level), fmt.Sprintf("scale_in_vnfc_ids = split(\" \", file(%q))", victims))
	}
	choose(0)()
	env.run(t,
		resource.TestStep{Config: env.config("hello", "scale_levels = { web = 3 }")},
		resource.TestStep{PreConfig: choose(3), Config: config(1), ExpectError: sentence(`VDU "web" loses 2 VNFCs, but 3 are named`)},
		after(choose(2), updated(config(1), func(*terraform.State) error {
			want := slices.Sorted(maps.Keys(before))[2:]
			if got := slices.Sorted(maps.Keys(env.pods())); !slices.Equal(got, want) {
				return fmt.Errorf("left are %v of %v, want %v", got, slices.Sorted(maps.Keys(before)), want)
			}
			return nil
		}, replicas("web", 2))),
		resource.TestStep{Config: config(0), ExpectError: sentence(`VDU "web" has no VNFC "web-`, `Its VNFCs are "web-`)},
	)
}
