//go:build unix

package e2e_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// refused is the package hello whose Deployment the API server does not accept,
// after it has accepted what comes before.
func refused(t testing.TB) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "hello")
	acctest.Edit(t, dir, "Files/kubernetes/web.yaml", "      labels: { app.kubernetes.io/name: web }\n    spec:", "      labels: { app.kubernetes.io/name: other }\n    spec:")
	acctest.Hash(t, dir)
	return dir
}

// expectOutput checks that the output of a run holds texts.
func (env *testEnv) expectOutput(r result, texts ...string) {
	env.Helper()
	output := r.text()
	for _, text := range texts {
		if !strings.Contains(output, text) {
			env.Errorf("terraform %v does not say %q:\n%s", r.args, text, r.output)
		}
	}
}

// gone checks that a failed creation left nothing: no state, no record, no object.
func (env *testEnv) gone() {
	env.Helper()
	if o := env.state(address); o != nil {
		env.Errorf("the state holds the instance: %v", o.values)
	}
	env.expectNothing()
}

// TestAccCreate_nothing fails before anything exists.
func TestAccCreate_nothing(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.foreign = true
	env.lab.Kubectl(t, "create", "namespace", env.namespace)
	env.kubectl("create", "configmap", "web-content", "--from-literal=mine=1")
	env.configure(acctest.ExamplePackage(t, "hello"))
	r := env.expectExit(1, "apply", "-auto-approve")
	env.expectOutput(r, `Unable to Instantiate VNF Instance "test"`, "web-content", "Objects of other owners were not changed")
	env.gone()
	env.kubectl("delete", "configmap", "web-content")
	env.apply()
	env.expectEmptyPlan()
	env.expectConsistent()
	// What replaces the instance under another name does not meet the objects that go with the instance.
	env.write(env.provider(), env.vims(), pkg(acctest.ExamplePackage(t, "hello")), env.instance("renamed"))
	env.expectExit(2, "plan", "-detailed-exitcode", "-replace="+address)
	env.destroy()
	env.destroyed()
}

// dependent is the address of dependentBlock, which depends on the instance.
const (
	dependent      = "terraform_data.after"
	dependentBlock = "resource \"terraform_data\" \"after\" {\n  input = vnf_instance.test.id\n}\n"
)

// TestAccCreate_resume fails half-way and goes on later. Without a postcondition the apply is green, and what depends on the
// instance is made; with one it is red.
func TestAccCreate_resume(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	// A plan that asks the API server would not come that far a second time.
	source, arguments := refused(t), []string{`server_dry_run = false`, `on_failure = "resume"`}
	unconditional, _, _ := strings.Cut(env.instance("test", arguments...), "  lifecycle {")
	env.write(env.provider(), env.vims(), pkg(source), unconditional+"}\n", dependentBlock)
	r := env.expectExit(0, "apply", "-auto-approve")
	env.expectOutput(r, "Warning: VNF Instance \"test\" Is Not Instantiated Yet", "selector")
	env.resource(dependent)
	id := env.expectResumable()
	env.configure(source, arguments...)
	again := env.expectExit(1, "apply", "-auto-approve")
	env.expectOutput(again, "Resource postcondition failed", "The instance is FAILED_TEMP", "selector")
	if got := env.expectResumable(); got != id {
		t.Errorf("the instance %s became %s", id, got)
	}
	env.resume(id, acctest.ExamplePackage(t, "hello"))
	env.destroy()
	env.destroyed()
}

// TestAccCreate_fail fails half-way: the apply is red by itself, what depends on the instance is not made, and both
// ways on are open: the operation continues after an untaint, or starts over.
func TestAccCreate_fail(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	configure := func(source string) {
		env.write(env.store.Provider(), env.vims(), pkg(source), env.instance("test", `server_dry_run = false`), dependentBlock)
	}
	configure(refused(t))
	r := env.expectExit(1, "apply", "-auto-approve")
	env.expectOutput(r, `Error: Unable to Instantiate VNF Instance "test"`, "selector", `run "terraform untaint"`)
	failed := env.resource(address)
	if got := failed.text("status"); !failed.tainted || got != "FAILED_TEMP" {
		t.Errorf("the instance is %s, tainted: %t", got, failed.tainted)
	}
	if o := env.state(dependent); o != nil {
		t.Errorf("what depends on the instance was made: %v", o.values)
	}
	made := env.uids()
	if len(made) == 0 {
		t.Error("nothing of the failed creation is kept")
	}
	// The plan that Terraform makes before it plans the destroy does not stop that.
	for argument, problem := range map[string]string{`server_dry_run = true`: "would be rejected by the API server", `flavour_id = "none"`: "has no deployment flavour"} {
		env.write(env.store.Provider(), env.vims(), pkg(refused(t)), env.instance("test", argument), dependentBlock)
		env.expectOutput(env.expectExit(0, "plan"), problem, "The last operation did not complete, so that a destroy goes on")
		env.expectOutput(env.expectExit(0, "plan", "-destroy"), "Plan: 0 to add")
	}
	configure(refused(t))
	if diff := cmp.Diff([]string{"delete", "create"}, env.actions()[address]); diff != "" {
		t.Errorf("plan of the tainted instance, expected (-) and planned (+):\n%s", diff)
	}
	// Created before it is destroyed, it meets its own name: the plan warns, the apply is rejected, and nothing is lost.
	good := acctest.ExamplePackage(t, "hello")
	env.write(env.store.Provider(), env.vims(), pkg(good), strings.Replace(env.instance("test"), "lifecycle {", "lifecycle {\n    create_before_destroy = true", 1))
	env.expectOutput(env.expectExit(2, "plan", "-detailed-exitcode"), `VNF Instance "test" Exists and Is Incomplete`, "With create_before_destroy its creation is rejected")
	env.expectOutput(env.expectExit(1, "apply", "-auto-approve"), "belongs to VNF instance "+failed.text("id"))
	env.expectExit(0, "untaint", address)
	configure(good)
	env.apply()
	env.expectEmptyPlan()
	env.expectConsistent()
	if got := env.resource(address).text("id"); got != failed.text("id") {
		t.Errorf("the instance %s became %s", failed.text("id"), got)
	}
	now := env.uids()
	for object, uid := range made {
		if now[object] != uid {
			t.Errorf("%s was made again", object)
		}
	}
	env.expectExit(0, "taint", address)
	env.expectOutput(env.expectExit(2, "plan", "-detailed-exitcode"), `VNF Instance "test" Exists`, "the apply removes it first, with all that runs there")
	env.destroy()
	env.destroyed()
}

// TestAccCreate_taken has two configurations create an instance of the same place and name. One succeeds, and the other neither gets nor
// changes it: at the same time, and after the apply of the first.
func TestAccCreate_taken(t *testing.T) {
	t.Parallel()
	env, other := newStoreEnv(t), newEnv(t)
	other.store, other.remote, other.records, other.namespace = env.store, env.remote, env.records, env.namespace
	source := acctest.ExamplePackage(t, "hello")
	var runs []*running
	for _, one := range []*testEnv{env, other} {
		one.write(one.provider(), env.vims(), pkg(source), one.instance("test"))
		runs = append(runs, one.start("apply", "-auto-approve"))
	}
	first, second := runs[0].wait(), runs[1].wait()
	winner, loser, refused := env, other, second
	if first.code != 0 {
		winner, loser, refused = other, env, first
	}
	require.ElementsMatch(t, []int{0, 1}, []int{first.code, second.code}, "%s\n%s", first.output, second.output)
	loser.expectOutput(refused, `Unable to Instantiate VNF Instance "test"`)
	id := winner.resource(address).text("id")
	// No refresh of the winner has seen it yet.
	loser.expectOutput(loser.expectExit(1, "apply", "-auto-approve"), "belongs to VNF instance "+id, "choose another name, or import that instance")
	require.Nil(t, loser.state(address))
	winner.expectConsistent()
	loser.destroy()
	winner.expectEmptyPlan()
	winner.destroy()
	winner.destroyed()
}
