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

// TestAccInstance_attributesPlanned changes every argument and checks what is planned: nothing, an update in place with an operation or
// without one, or a replacement. What one argument would do more than the others of its step is seen in the plan of all of them.
func TestAccInstance_attributesPlanned(t *testing.T) {
	env := newEnv(t)
	other := strings.ReplaceAll(acctest.VIM(env, env.lab, "other"), `"vnf_vim" "test"`, `"vnf_vim" "other"`)
	second := strings.ReplaceAll(pkg(hello(t, manifests("web:1.0.0", "web:2.0.0"))), `"test"`, `"second"`)
	base := env.store.Config(acctest.VIM(env, env.lab, "test"), other, pkg(examplePackage(t, "hello")), second)
	plan := func(arguments []string, action plancheck.ResourceActionType, checks ...plancheck.PlanCheck) resource.TestStep {
		return resource.TestStep{
			Config: base + env.instanceWith(arguments...), PlanOnly: true, ExpectNonEmptyPlan: action != plancheck.ResourceActionNoop,
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPreRefresh: append(checks, plancheck.ExpectResourceAction(address, action))},
		}
	}
	env.run(t,
		resource.TestStep{Config: base + env.instance()},
		// What is there already, written in another way.
		plan([]string{`flavour_id = "default"`, `lock_timeout = "30000ms"`}, plancheck.ResourceActionNoop),
		// The record alone changes.
		plan([]string{
			`scale_levels = { web = 0 }`, `on_failure = "rollback"`, `force_conflicts = true`, `adopt_existing = true`, `termination = { type = "forceful" }`,
			`deletion_policy = { volumes = "keep" }`, `timeouts = { update = "1h" }`, `lock_timeout = "31s"`,
		}, plancheck.ResourceActionUpdate,
			plancheck.ExpectKnownValue(address, tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
			plancheck.ExpectKnownValue(address, tfjsonpath.New("generation"), knownvalue.Int64Exact(1))),
		// What runs changes, in place.
		plan([]string{
			`name = "renamed"`, `description = "for people"`, `metadata = { site = "north" }`, `package_id = vnf_package.second.id`, `scale_levels = { web = 1 }`,
			`additional_params = { "lcm-kubernetes-def-files" = ["` + webFile + `"], namespace = "` + env.namespace + `" }`, `operational_state = "stopped"`,
		}, plancheck.ResourceActionUpdate, plancheck.ExpectUnknownValue(address, tfjsonpath.New("generation"))),
		// Either of these replaces the instance.
		plan([]string{`vim_id = vnf_vim.other.id`, `namespace = "` + env.namespace + `-other"`}, plancheck.ResourceActionDestroyBeforeCreate, replacedBy{"namespace", "vim_id"}),
		// An explicit default leads to no operation, and the plan after it is empty.
		resource.TestStep{
			Config: base + env.instanceWith(`scale_levels = { web = 0 }`), ConfigPlanChecks: updates(),
			ConfigStateChecks: []statecheck.StateCheck{instantiated(), value("generation", knownvalue.Int64Exact(1))},
		},
	)
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

// TestAccInstance_termination looks at the grace periods that the pods of instances get.
func TestAccInstance_termination(t *testing.T) {
	env := newEnv(t)
	cases := map[string]struct {
		argument string
		want     string
	}{
		"default":          {``, "11"},
		"graceful":         {`termination = { type = "graceful" }`, "11"},
		"graceful_timeout": {`termination = { type = "graceful", graceful_timeout = "7s" }`, "7"},
		"timeout_alone":    {`termination = { graceful_timeout = "5s" }`, "5"},
		"forceful":         {`termination = { type = "forceful" }`, "0"},
	}
	config := env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(hello(t, podOnly)))
	homes := map[string]*testEnv{}
	for name, c := range cases {
		homes[name] = env.elsewhere()
		config += homes[name].instanceNamed(name, c.argument)
	}
	// The pods are watched from the end of the apply.
	pods := map[string]func(func(event) bool) []event{}
	watch := func(*terraform.State) error {
		for name, home := range homes {
			pods[name] = home.watch(t, "api/v1", "pods")
		}
		return nil
	}
	running := []statecheck.StateCheck{}
	for name := range cases {
		running = append(running,
			statecheck.ExpectKnownValue("vnf_instance."+name, tfjsonpath.New("status"), knownvalue.StringExact("INSTANTIATED")),
			statecheck.ExpectKnownValue("vnf_instance."+name, tfjsonpath.New("vnfc_counts"), counts("web", 1)))
	}
	env.run(t, resource.TestStep{Config: config, ConfigStateChecks: running, Check: watch})
	for name, c := range cases {
		homes[name].expectNothing(t)
		got := "0"
		for _, e := range pods[name](func(e event) bool { return e.Type == "DELETED" }) {
			if grace := e.Object.Metadata.DeletionGracePeriodSeconds; e.Type == "MODIFIED" && grace != nil && got == "0" {
				got = fmt.Sprint(*grace)
			}
		}
		if got != c.want {
			t.Errorf("%s: the pod was given %s seconds, want %s", name, got, c.want)
		}
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
