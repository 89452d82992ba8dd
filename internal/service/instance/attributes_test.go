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

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAccInstance_attributesPlanned changes every argument and checks what is
// planned: an update in place or a replacement, with an operation or without one.
func TestAccInstance_attributesPlanned(t *testing.T) {
	const (
		record    = "changes the record alone"
		operation = "changes what runs"
		replaced  = "replaces the instance"
	)
	env := newEnv(t)
	other := strings.ReplaceAll(acctest.VIM(env, env.lab, "other"), `"vnf_vim" "test"`, `"vnf_vim" "other"`)
	second := strings.ReplaceAll(pkg(hello(t, manifests("web:1.0.0", "web:2.0.0"))), `"test"`, `"second"`)
	base := env.store.Config(acctest.VIM(env, env.lab, "test"), other, pkg(examplePackage(t, "hello")), second)
	steps := []resource.TestStep{{Config: base + env.instance()}}
	for _, tc := range []struct{ argument, effect string }{
		{`name = "renamed"`, operation},
		{`description = "for people"`, operation},
		{`metadata = { site = "north" }`, operation},
		{`vim_id = vnf_vim.other.id`, replaced},
		{`package_id = vnf_package.second.id`, operation},
		{`flavour_id = "default"`, ""},
		{`scale_levels = { web = 1 }`, operation},
		{`scale_levels = { web = 0 }`, record},
		{`namespace = "` + env.namespace + `-other"`, replaced},
		{`additional_params = { "lcm-kubernetes-def-files" = ["` + webFile + `"] }`, operation},
		{`additional_params = { namespace = "` + env.namespace + `" }`, operation},
		{`operational_state = "stopped"`, operation},
		{`on_failure = "rollback"`, record},
		{`force_conflicts = true`, record},
		{`adopt_existing = true`, record},
		{`termination = { type = "forceful" }`, record},
		{`deletion_policy = { volumes = "keep" }`, record},
		{`timeouts = { update = "1h" }`, record},
		{`lock_timeout = "30000ms"`, ""},
		{`lock_timeout = "31s"`, record},
	} {
		step := resource.TestStep{Config: base + env.instanceWith(tc.argument), PlanOnly: true, ExpectNonEmptyPlan: tc.effect != ""}
		action := plancheck.ResourceActionUpdate
		var checks []plancheck.PlanCheck
		switch tc.effect {
		case "":
			action = plancheck.ResourceActionNoop
		case replaced:
			action = plancheck.ResourceActionDestroyBeforeCreate
		case record:
			checks = append(checks,
				plancheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
				plancheck.ExpectKnownValue(address, tfjsonpath.New("generation"), knownvalue.Int64Exact(1)))
		}
		checks = append(checks, named{tc.argument, plancheck.ExpectResourceAction(address, action)})
		step.ConfigPlanChecks = resource.ConfigPlanChecks{PostApplyPreRefresh: checks}
		steps = append(steps, step)
	}
	// An explicit default leads to no operation, and the plan after it is empty.
	steps = append(steps, resource.TestStep{
		Config: base + env.instanceWith(`scale_levels = { web = 0 }`), ConfigPlanChecks: updates(),
		ConfigStateChecks: []statecheck.StateCheck{instantiated(), value("generation", knownvalue.Int64Exact(1))},
	})
	env.run(t, steps...)
}

// TestAccInstance_namespaceReplaced moves an instance: nothing is left where it was.
func TestAccInstance_namespaceReplaced(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	target := env.lab.Namespace(t)
	differ := statecheck.CompareValue(compare.ValuesDiffer())
	config := func(arguments ...string) string {
		return env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(examplePackage(t, "hello")), env.instanceWith(arguments...))
	}
	// An argument that is not there, so that the parameter alone says the namespace.
	byParameter := strings.Replace(config(`additional_params = { namespace = "`+target+`" }`), fmt.Sprintf("  namespace       = %q\n", env.namespace), "", 1)
	env.run(t,
		resource.TestStep{Config: config(), ConfigStateChecks: []statecheck.StateCheck{differ.AddStateValue(address, tfjsonpath.New("id"))}},
		resource.TestStep{
			Config:            byParameter,
			ConfigPlanChecks:  planned(plancheck.ResourceActionDestroyBeforeCreate),
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), value("namespace", knownvalue.StringExact(target)), differ.AddStateValue(address, tfjsonpath.New("id"))},
			Check: allChecks(env.checkBackend(), func(*terraform.State) error {
				if left := env.owned(); len(left) > 0 {
					return fmt.Errorf("left in the old namespace: %v", left)
				}
				return nil
			}),
		},
	)
}

// TestAccInstance_forceConflicts changes a field that kubectl owns: an error that
// names both, and a take-over with force_conflicts.
func TestAccInstance_forceConflicts(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	style := hello(t, manifests("data:\n  index.html", "data:\n  style.css: ours\n  index.html"))
	css := func(text string) resource.TestCheckFunc {
		return env.expectKubectl(text, "get", "configmap", "web-content", "-o", `jsonpath={.data.style\.css}`)
	}
	env.run(t,
		resource.TestStep{Config: env.config("hello")},
		resource.TestStep{
			PreConfig: func() {
				env.kubectl("patch", "configmap", "web-content", "--field-manager=somebody", "--type=merge", "-p", `{"data":{"style.css":"theirs"}}`)
			},
			Config:      env.configFor(style),
			ExpectError: sentence(`Unable to Update VNF Instance "test"`, `ConfigMap `+env.namespace+`/web-content: other managers own fields that the manifest sets: .data.style.css (owned by "somebody")`, `force_conflicts`),
		},
		after(func() {
			if err := css("theirs")(nil); err != nil {
				t.Error(err)
			}
		}, updated(env.configFor(style, `force_conflicts = true`), allChecks(env.checkBackend(), css("ours")))),
	)
}

// TestAccInstance_params gives every additional parameter.
func TestAccInstance_params(t *testing.T) {
	env := newEnv(t)
	dir := hello(t,
		manifests("kind: Deployment\nmetadata:\n  name: web", "kind: Deployment\nmetadata:\n  name: www"),
		with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"))
	mapping := `vdu_mapping = { web = { kind = "Deployment", name = "www" } }`
	env.run(t,
		applied(env.configFor(dir, params(mapping))+lookups, env.checkBackend(4), replicas("web", 1),
			statecheck.ExpectKnownValue("data.vnf_instance.by_id", tfjsonpath.New("vdus").AtMapKey("web").AtMapKey("name"), knownvalue.StringExact("www"))),
		updated(env.configFor(dir, params(mapping+`, "lcm-kubernetes-def-files" = ["./`+webFile+`"], namespace = "`+env.namespace+`"`)),
			allChecks(env.checkBackend(3), env.expectKubectl("", "get", "configmap", "more", "--ignore-not-found", "-o", "name")), value("generation", knownvalue.Int64Exact(2))),
		resource.TestStep{
			// The same parameters in another order and as values of other types.
			Config: env.configFor(dir, params(`namespace = "`+env.namespace+`", "lcm-kubernetes-def-files" = tolist(["./`+webFile+`"]), vdu_mapping = { web = tomap({ name = "www", kind = "Deployment" }) }`)),
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
				plancheck.ExpectKnownValue(address, tfjsonpath.New("generation"), knownvalue.Int64Exact(2)),
			}},
			ConfigStateChecks: []statecheck.StateCheck{value("generation", knownvalue.Int64Exact(2))},
		},
	)
}

// podOnly makes the package hello a single Pod with a grace period of its own.
func podOnly(t testing.TB, dir string) {
	acctest.Write(t, dir, webFile, `apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  terminationGracePeriodSeconds: 11
  containers: [{ name: web, image: registry.example.com/hello/web:1.0.0 }]
`)
}

// TestAccInstance_termination looks at the grace period that the pods get.
func TestAccInstance_termination(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		argument string
		want     string
	}{
		"default":          {``, "11"},
		"graceful":         {`termination = { type = "graceful" }`, "11"},
		"graceful timeout": {`termination = { type = "graceful", graceful_timeout = "7s" }`, "7"},
		"timeout alone":    {`termination = { graceful_timeout = "5s" }`, "5"},
		"forceful":         {`termination = { type = "forceful" }`, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnv(t)
			dir := hello(t, podOnly)
			var upTo func(func(event) bool) []event
			env.run(t, resource.TestStep{
				Config:            env.configFor(dir, tc.argument),
				ConfigStateChecks: []statecheck.StateCheck{instantiated(), replicas("web", 1)},
				Check: func(*terraform.State) error {
					upTo = env.watch(t, "api/v1", "pods")
					return nil
				},
			})
			got := "0"
			for _, e := range upTo(func(e event) bool { return e.Type == "DELETED" }) {
				if grace := e.Object.Metadata.DeletionGracePeriodSeconds; e.Type == "MODIFIED" && grace != nil && got == "0" {
					got = fmt.Sprint(*grace)
				}
			}
			if got != tc.want {
				t.Errorf("the pod was given %s seconds, want %s", got, tc.want)
			}
		})
	}
}

const claim = `apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: data }
spec:
  accessModes: [ReadWriteOnce]
  resources: { requests: { storage: 1Gi } }
`

// TestAccInstance_deletionPolicy keeps a volume, which the next instance of the
// same name takes over, and deletes it.
func TestAccInstance_deletionPolicy(t *testing.T) {
	env := newEnv(t)
	dir := hello(t, with(claim))
	config := func(policy string) string {
		return env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(dir), env.instanceWith(policy))
	}
	without := env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(dir))
	keep, remove := `deletion_policy = {}`, `deletion_policy = { volumes = "delete" }`
	var uid string
	label := `jsonpath={.metadata.labels.vnf\.nfv-iac\.github\.io/instance-id}`
	same := func(*terraform.State) error {
		if got := env.uid("persistentvolumeclaim/data"); got != uid {
			return fmt.Errorf("the claim is %s, want that of before, %s", got, uid)
		}
		return nil
	}
	env.run(t,
		applied(config(keep), allChecks(env.checkBackend(), func(*terraform.State) error {
			uid = env.uid("persistentvolumeclaim/data")
			return nil
		})),
		resource.TestStep{Config: without, Check: allChecks(same, env.expectKubectl("", "get", "pvc", "data", "-o", label), func(*terraform.State) error {
			env.expectNothing(t)
			return nil
		})},
		resource.TestStep{Config: config(remove), ConfigStateChecks: []statecheck.StateCheck{instantiated()}, Check: allChecks(env.checkBackend(), same)},
		resource.TestStep{Config: without, Check: env.expectKubectl("", "get", "pvc", "--ignore-not-found", "-o", "name")},
	)
}

// TestAccInstance_deleteTimeout cannot remove an object in time: an error that
// says what holds it, and a record to go on from.
func TestAccInstance_deleteTimeout(t *testing.T) {
	labtest.FullRun(t, failures)
	env := newEnv(t)
	config := env.config("hello", `timeouts = { delete = "15s" }`)
	env.run(t,
		resource.TestStep{Config: config},
		resource.TestStep{
			PreConfig: func() {
				env.kubectl("patch", "configmap", "web-content", "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
			},
			Config:      config,
			Destroy:     true,
			ExpectError: sentence(`Unable to Terminate VNF Instance "test"`, `ConfigMap `+env.namespace+`/web-content has been marked for deletion since 20`, ` ago); waits for the finalizers example.com/hold: the controller that set them has not removed them`, `destroy again: the operation continues where it stopped`),
		},
		resource.TestStep{
			PreConfig: func() {
				if got := env.records(t); len(got) != 1 || got[0].Status != vnfm.StatusFailedTemp {
					t.Errorf("records: %+v", got)
				}
				env.kubectl("patch", "configmap", "web-content", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			},
			Config:  config,
			Destroy: true,
		},
	)
}
