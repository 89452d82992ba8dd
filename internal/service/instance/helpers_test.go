package instance_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	address       = "vnf_instance.test"
	labelInstance = "vnf.nfv-iac.github.io/instance-id"
)

// testEnv is a lab, a namespace, a store and the configurations over them.
type testEnv struct {
	testing.TB
	lab         labtest.Env
	store       acctest.Store
	namespace   string
	diagnostics acctest.Diagnostics
	// further are the other clusters that have parts of the instance, by VIM connection.
	further map[string]labtest.Env
}

// failures is the reason of labtest.FullRun for tests that `make test` skips.
const failures = "failures and other writers"

// newEnv returns an environment for a test that runs beside others from now on: what it
// waits for next, such as the fault proxy, may be held by a test that runs.
func newEnv(t *testing.T) *testEnv {
	t.Helper()
	t.Parallel()
	return additionalEnv(t)
}

// additionalEnv returns another environment for the same test.
func additionalEnv(t testing.TB) *testEnv {
	t.Helper()
	lab := labtest.Kubernetes(t)
	return &testEnv{TB: t, lab: lab, store: acctest.NewStore(t), namespace: lab.Namespace(t)}
}

// elsewhere returns the same environment with another namespace.
func (env *testEnv) elsewhere() *testEnv {
	env.Helper()
	return &testEnv{TB: env.TB, lab: env.lab, store: env.store, namespace: env.lab.Namespace(env)}
}

func examplePackage(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "examples", "packages", name))
	require.NoError(t, err)
	return path
}

// pkg returns a vnf_package "test" read from a path.
func pkg(source string) string {
	return fmt.Sprintf(`
resource "vnf_package" "test" {
  name   = "test"
  source = %q
}
`, source)
}

// instance returns a vnf_instance "test" with further arguments.
func (env *testEnv) instance(arguments ...string) string {
	return fmt.Sprintf(`
resource "vnf_instance" "test" {
  name            = "test"
  vim_id          = vnf_vim.test.id
  package_id      = vnf_package.test.id
  namespace       = %q
  deletion_policy = { volumes = "delete" }
  %s
}
`, env.namespace, strings.Join(arguments, "\n  "))
}

// instanceWith returns a vnf_instance "test" whose arguments may be those that
// instance gives, with another value. The last one of a name counts.
func (env *testEnv) instanceWith(arguments ...string) string {
	text := env.instance()
	for _, a := range arguments {
		if name, _, ok := strings.Cut(a, " "); ok {
			text = regexp.MustCompile(`(?m)^  `+name+` += .*\n`).ReplaceAllString(text, "")
		}
		end := strings.LastIndex(text, "}")
		text = text[:end] + "  " + a + "\n}\n"
	}
	return text
}

// instanceNamed is instanceWith for a vnf_instance of another name.
func (env *testEnv) instanceNamed(name string, arguments ...string) string {
	text := env.instanceWith(append([]string{fmt.Sprintf("name = %q", name)}, arguments...)...)
	return strings.Replace(text, `"vnf_instance" "test"`, fmt.Sprintf(`"vnf_instance" %q`, name), 1)
}

// resume keeps a failed creation without a taint: the next apply continues it.
const resume = `on_failure = "resume"`

// config returns a whole configuration over the example package of that name.
func (env *testEnv) config(example string, arguments ...string) string {
	return env.configFor(examplePackage(env, example), arguments...)
}

// configFor returns a whole configuration over the package of that path.
func (env *testEnv) configFor(source string, arguments ...string) string {
	return env.store.Config(acctest.VIM(env, env.lab, "test"), pkg(source), env.instance(arguments...))
}

// kubectl runs kubectl in the namespace of the test.
func (env *testEnv) kubectl(args ...string) string {
	env.Helper()
	return strings.TrimSpace(env.lab.Kubectl(env, append([]string{"-n", env.namespace}, args...)...))
}

// makePodsReady lets the pods run that the lab holds back. Some of those that are listed may go
// meanwhile, which is an error to kubectl.
func (env *testEnv) makePodsReady() {
	env.Helper()
	for range 10 {
		if _, err := env.lab.TryKubectl(env.Context(), "-n", env.namespace, "annotate", "pods", "--all", "lab.vnf/fail-"); err == nil {
			return
		}
	}
	env.Fatalf("the pods in %s cannot be cured", env.namespace)
}

// owned lists the objects in the namespace that carry the label of an instance.
func (env *testEnv) owned() []labtest.Object {
	env.Helper()
	return objects(env, env.lab, env.namespace, labelInstance)
}

// objects lists the objects with a label that no controller made; a namespace that is
// empty stands for all.
func objects(t testing.TB, lab labtest.Env, namespace, selector string) []labtest.Object {
	t.Helper()
	found, err := lab.Server(t).Labelled(t.Context(), namespace, selector)
	require.NoError(t, err)
	// The endpoints controller copies the labels of a Service to its own objects.
	return slices.DeleteFunc(found, func(o labtest.Object) bool { return o.Owned || o.Kind == "Endpoints" })
}

// updates expects that the plan of a step changes the instance in place.
func updates() resource.ConfigPlanChecks {
	return planned(plancheck.ResourceActionUpdate)
}

func planned(action plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, action)}}
}

// applied is a step after which the instance is INSTANTIATED, the check holds, and so do further ones of the state.
func applied(config string, check resource.TestCheckFunc, state ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{Config: config, Check: check, ConfigStateChecks: append([]statecheck.StateCheck{instantiated()}, state...)}
}

// updated is applied by a plan that changes the instance in place.
func updated(config string, check resource.TestCheckFunc, state ...statecheck.StateCheck) resource.TestStep {
	step := applied(config, check, state...)
	step.ConfigPlanChecks = updates()
	return step
}

// checked is a step with checks of the plan and of what the apply makes.
func checked(config string, plan resource.ConfigPlanChecks, check resource.TestCheckFunc) resource.TestStep {
	return resource.TestStep{Config: config, ConfigPlanChecks: plan, Check: check}
}

// after is a step before which something happens.
func after(happens func(), step resource.TestStep) resource.TestStep {
	step.PreConfig = happens
	return step
}

func (env *testEnv) run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	env.runCase(t, resource.TestCase{Steps: steps})
}

// plainRun runs steps at once, before other ones that build on them.
func (env *testEnv) plainRun(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.Test(t, resource.TestCase{ProtoV6ProviderFactories: env.diagnostics.Factories(), Steps: steps})
}

// runCase runs a test case, after which neither an object nor a record is left.
func (env *testEnv) runCase(t *testing.T, c resource.TestCase) {
	t.Helper()
	c.ProtoV6ProviderFactories = env.diagnostics.Factories()
	resource.Test(t, c)
	env.expectNothing(t)
}

// expectNothing checks that nothing is left of any instance.
func (env *testEnv) expectNothing(t testing.TB) {
	t.Helper()
	if left := env.owned(); len(left) > 0 {
		t.Errorf("objects are left: %v", left)
	}
	if left := env.records(t); len(left) > 0 {
		t.Errorf("records are left: %+v", left)
	}
}

// records are the instances that the store knows.
func (env *testEnv) records(t testing.TB) []vnfm.Instance {
	t.Helper()
	instances, err := env.store.Manager(t).Instances(t.Context(), vnfm.InstanceFilter{})
	require.NoError(t, err)
	return instances
}

// operations are the LCM operations of the only instance of the store, as
// "type state".
func (env *testEnv) operations(t testing.TB) []string {
	t.Helper()
	instances := env.records(t)
	if len(instances) != 1 {
		t.Fatalf("the store has %d instances, want one", len(instances))
	}
	occs, err := env.store.Manager(t).Operations(t.Context(), instances[0].ID)
	require.NoError(t, err)
	var out []string
	for _, occ := range occs {
		out = append(out, string(occ.Type)+" "+string(occ.State))
	}
	return out
}

// edit changes the directory of a package.
type edit func(t testing.TB, dir string)

// hello returns a changed copy of the package hello.
func hello(t testing.TB, edits ...edit) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "hello")
	for _, e := range edits {
		e(t, dir)
	}
	acctest.Hash(t, dir)
	return dir
}

// webFile is where the package hello has its manifests.
const webFile = "Files/kubernetes/web.yaml"

// manifests replaces text in the manifests of the package hello.
func manifests(from, to string) edit {
	return func(t testing.TB, dir string) { acctest.Edit(t, dir, webFile, from, to) }
}

// descriptor replaces text in the VNFD of the package hello.
func descriptor(from, to string) edit {
	return func(t testing.TB, dir string) { acctest.Edit(t, dir, "hello.yaml", from, to) }
}

// with adds a manifest to the package hello.
func with(text string) edit {
	return func(t testing.TB, dir string) { acctest.Write(t, dir, "Files/kubernetes/more.yaml", text) }
}

// failing makes the pods of the package hello fail as the lab does on demand.
func failing(how string) edit {
	return manifests("labels: { app.kubernetes.io/name: web }\n    spec:",
		"labels: { app.kubernetes.io/name: web }\n      annotations: { lab.vnf/fail: "+how+" }\n    spec:")
}

// failedJob is a Job that cannot succeed: an instance with it fails as soon as
// the cluster says so, and not after a time.
const failedJob = `apiVersion: batch/v1
kind: Job
metadata: { name: migrate }
spec:
  backoffLimit: 0
  template:
    metadata: { annotations: { lab.vnf/fail: crash } }
    spec:
      restartPolicy: Never
      containers: [{ name: migrate, image: registry.example.com/hello/migrate:1.0.0 }]
`

// allChecks runs several checks of one step.
func allChecks(checks ...resource.TestCheckFunc) resource.TestCheckFunc {
	return resource.ComposeAggregateTestCheckFunc(checks...)
}

// expectKubectl checks what kubectl prints.
func (env *testEnv) expectKubectl(want string, args ...string) resource.TestCheckFunc {
	return func(*terraform.State) error {
		if got := env.kubectl(args...); got != want {
			return fmt.Errorf("kubectl %s: %q, want %q", strings.Join(args, " "), got, want)
		}
		return nil
	}
}

// labelled are the objects of all kinds and clusters that carry the label of an
// instance and that no controller made, with the identity that they were applied as.
func (env *testEnv) labelled(id string) map[string]string {
	env.Helper()
	found := env.labelledOn(env.lab, id)
	for connection, lab := range env.further {
		for key, object := range env.labelledOn(lab, id) {
			found[connection+": "+key] = object
		}
	}
	return found
}

func (env *testEnv) labelledOn(lab labtest.Env, id string) map[string]string {
	env.Helper()
	found := map[string]string{}
	for _, o := range objects(env, lab, "", labelInstance+"="+id) {
		key := o.Annotations["vnf.nfv-iac.github.io/key"]
		// A namespace that was made for the instance is of no package. What a hook has made
		// is in the inventory alone.
		if o.Annotations["helm.sh/hook"] != "" || (o.Kind == "Namespace" && key == "") {
			continue
		}
		found[key] = o.Kind + " " + o.Name
	}
	return found
}

// checkBackend checks that the objects of the instance are those that the server holds, and that the state has no drift. With a
// number, there are so many.
func (env *testEnv) checkBackend(number ...int) resource.TestCheckFunc {
	return env.checkBackendOf(address, number...)
}

func (env *testEnv) checkBackendOf(address string, number ...int) resource.TestCheckFunc {
	return func(s *terraform.State) error {
		attributes := s.RootModule().Resources[address].Primary.Attributes
		if n := attributes["drift.#"]; n != "" && n != "0" {
			return fmt.Errorf("the state has drift: %v", attributes)
		}
		known := env.store.Objects(env, attributes["id"])
		if len(number) > 0 && len(known) != number[0] {
			return fmt.Errorf("the instance has %d objects, want %d: %v", len(known), number[0], known)
		}
		held := slices.Sorted(maps.Keys(env.labelled(attributes["id"])))
		if diff := cmp.Diff(known, held); diff != "" {
			return fmt.Errorf("objects of the instance (-) and of the server (+):\n%s", diff)
		}
		return nil
	}
}

// counts is the value of the attribute vnfc_counts: ids of VDUs, each followed by its number of VNFCs, which is nil where an autoscaler decides.
func counts(of ...any) knownvalue.Check {
	want := map[string]knownvalue.Check{}
	for i := 0; i < len(of); i += 2 {
		id, _ := of[i].(string)
		if want[id] = knownvalue.Null(); of[i+1] != nil {
			n, _ := of[i+1].(int)
			want[id] = knownvalue.Int64Exact(int64(n))
		}
	}
	return knownvalue.MapExact(want)
}

// plansObjects expects that a plan creates an instance of so many objects.
func plansObjects(n int) plancheck.PlanCheck {
	return plansObjectsOf(address, n)
}

func plansObjectsOf(address string, n int) plancheck.PlanCheck {
	return plancheck.ExpectKnownValue(address, tfjsonpath.New("operations").AtSliceIndex(0), knownvalue.StringRegexp(regexp.MustCompile(fmt.Sprintf(`^INSTANTIATE .*: %d objects$`, n))))
}
