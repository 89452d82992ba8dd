//go:build unix

package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAccLostStore deletes the store between two runs, at last with its key, as
// another machine begins. The refresh writes the records again, under the same ids, and
// touches no object: the plan is empty, the digests of Secrets are what they were, and no pod is replaced. An import without the state
// does the same. A destroy works as well.
func TestAccLostStore(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	source, levels := acctest.ExamplePackage(t, "core5g"), "scale_levels = { control-plane = 1 }"
	env.configure(source, levels)
	env.apply()
	ids := func() map[string]string {
		out := map[string]string{}
		for _, a := range []string{"vnf_vim.test", "vnf_package.test", address} {
			out[a] = env.resource(a).text("id")
		}
		return out
	}
	pods := func() string { return env.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}") }
	before, objects, running := ids(), env.uids(), pods()
	digests := env.resource(address).private["objects"]

	env.loseStore()
	require.NoError(t, os.Remove(env.store.KeyFile))
	plan := env.expectExit(0, "plan", "-detailed-exitcode")
	env.expectOutput(plan, "Records Were Missing in the Store and Were Written Again", "and 2 more similar warnings elsewhere")
	env.apply()
	env.expectEmptyPlan()
	env.expectConsistent()
	if diff := cmp.Diff(before, ids()); diff != "" {
		t.Errorf("ids before (-) and after (+) the loss of the store:\n%s", diff)
	}
	if diff := cmp.Diff(objects, env.uids()); diff != "" {
		t.Errorf("UIDs of objects before (-) and after (+) the loss of the store:\n%s", diff)
	}
	if now := pods(); running == "" || now != running {
		t.Errorf("pods %s became %s", running, now)
	}
	if diff := cmp.Diff(digests, env.resource(address).private["objects"]); diff != "" {
		t.Errorf("digests before (-) and after (+) the loss of the store and its key:\n%s", diff)
	}
	// The state is lost too. VIM and package are registered again, and the instance is found by its name.
	env.loseStore()
	require.NoError(t, os.Remove(filepath.Join(env.dir, "terraform.tfstate")))
	env.write(env.store.Provider(), env.vims(), pkg(source))
	env.apply()
	env.configure(source, levels)
	env.expectOutput(env.expectExit(1, "import", address, "test/"+env.namespace+"/nobody"), "Unable to Import VNF Instance", "not found")
	env.expectExit(0, "import", address, "test/"+env.namespace+"/test")
	env.expectExit(0, "plan", "-detailed-exitcode")
	env.apply()
	env.expectConsistent()
	require.Equal(t, before[address], env.resource(address).text("id"))
	require.Equal(t, objects, env.uids())
	require.Equal(t, running, pods())
	require.Equal(t, digests, env.resource(address).private["objects"])

	env.loseStore()
	env.destroy()
	env.destroyed()
}

// TestAccLostStore_packageGone destroys an instance whose record and package are lost, and whose package has no source any more.
func TestAccLostStore_packageGone(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	dir := acctest.CopyPackage(t, "hello")
	env.configure(dir)
	env.apply()
	env.loseStore()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	env.destroy()
	env.destroyed()
}

// TestAccLostStore_writeOnly empties each kind of store, as that of a colleague is whose credentials the state does not have: the refresh
// cannot register the VIM again, and one apply does, with a change and all.
func TestAccLostStore_writeOnly(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"local", "kubernetes", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			lose := env.loseStore
			if name != "local" {
				env.useRemote(t, name)
				lose = env.emptyRemote
			}
			vims := strings.Replace(env.vims(), "bearer_token ", "bearer_token_wo_version = 1\n    bearer_token_wo ", 1)
			configure := func(arguments ...string) {
				env.write(env.provider(), vims, pkg(acctest.ExamplePackage(t, "hello")), env.instance("test", arguments...))
			}
			configure()
			env.apply()
			ids, objects := [2]string{env.resource("vnf_vim.test").text("id"), env.resource(address).text("id")}, env.uids()
			for _, arguments := range []string{"", "scale_levels = { web = 1 }"} {
				lose()
				configure(arguments)
				env.apply()
				env.expectEmptyPlan()
				env.expectConsistent()
			}
			require.Equal(t, [2]string{env.resource("vnf_vim.test").text("id"), env.resource(address).text("id")}, ids)
			require.Equal(t, objects, env.uids())
			lose()
			env.expectOutput(env.expectExit(1, "destroy", "-auto-approve"),
				`The store of this run has neither the VNF instance nor its VIM "test", and a destroy gets no credentials.`, "Run terraform apply first, which registers the VIM again, then destroy")
			env.apply()
			env.destroy()
			env.destroyed()
		})
	}
}

// TestAccLostKey loses the key of a store that stays, twice: the plan goes on, with warnings, and one apply seals the credentials of the
// VIM and the content of the package again. A scale then reads the package. A key that the user has given and that is missing is an
// error, and no key is made in its place.
func TestAccLostKey(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	vims := strings.Replace(env.vims(), "bearer_token ", "bearer_token_wo_version = 1\n    bearer_token_wo ", 1)
	data := "data \"vnf_instance\" \"test\" {\n  id = " + address + ".id\n}\n"
	given := strings.Replace(env.provider(), "encryption = { key_file", "# encryption = { key_file", 1)
	configure := func(arguments ...string) {
		env.write(given, vims, pkg(acctest.ExamplePackage(t, "hello")), env.instance("test", arguments...), data)
	}
	configure()
	env.apply()
	ids, objects := [2]string{env.resource("vnf_vim.test").text("id"), env.resource(address).text("id")}, env.uids()
	for _, arguments := range []string{"", "scale_levels = { web = 1 }"} {
		require.NoError(t, os.Remove(env.store.KeyFile))
		configure(arguments)
		plan := env.expectExit(2, "plan", "-detailed-exitcode")
		env.expectOutput(plan, `Credentials of VIM "test" Cannot Be Opened`, "Content of VNF Package Cannot Be Opened", "Could Not Be Refreshed")
		if arguments == "" {
			// It is read after an instance that changes.
			env.expectOutput(plan, `VNFCs of VNF Instance "test" Cannot Be Read`)
		}
		env.apply()
		env.expectEmptyPlan()
		env.expectConsistent()
		require.Equal(t, [2]string{env.resource("vnf_vim.test").text("id"), env.resource(address).text("id")}, ids)
		require.Equal(t, objects, env.uids())
	}
	given = env.provider()
	require.NoError(t, os.Rename(env.store.KeyFile, env.store.KeyFile+".away"))
	configure("scale_levels = { web = 2 }")
	env.expectOutput(env.expectExit(1, "apply", "-auto-approve"), "does not exist: restore it", "-refresh=false and -target")
	require.NoFileExists(t, env.store.KeyFile)
	require.NoError(t, os.Rename(env.store.KeyFile+".away", env.store.KeyFile))
	configure("scale_levels = { web = 2 }")
	env.apply()
	env.destroy()
	env.destroyed()
}

// emptyRemote removes all records of a store that outlives the runner, its key as well.
func (env *testEnv) emptyRemote() {
	env.Helper()
	env.looked(func(s store.Store) {
		for _, kind := range []store.Kind{
			store.KindVIM, store.KindPackage, store.KindInstance, store.KindOperation, store.KindDryRun, store.KindPlan, store.KindChart, store.KindReport, store.KindKey,
		} {
			records, err := s.List(env.Context(), store.Query{Kind: kind})
			require.NoError(env, err)
			for _, r := range records {
				require.NoError(env, s.Delete(env.Context(), kind, r.ID))
			}
		}
	})
}

// loseStore removes everything but the key.
func (env *testEnv) loseStore() {
	env.Helper()
	require.NoError(env, env.records.Close())
	env.store.Clear(env)
	env.records = env.store.Records(env)
}

// TestAccTwoRuns applies two root modules on one store at once, and plans beside
// an apply.
func TestAccTwoRuns(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.configure(acctest.ExamplePackage(t, "core5g"))
	other := newEnv(t)
	other.store, other.records = env.store, env.records
	other.write(other.store.Provider(), strings.Replace(other.vims(), `name = "test"`, `name = "other"`, 1), pkg(acctest.ExamplePackage(t, "hello")), other.instance("test"))

	writing := env.gateway.expect(request.write)
	first := env.start("apply", "-auto-approve")
	second := other.start("apply", "-auto-approve")
	select {
	case <-writing:
	case <-first.done:
	}
	// The first run holds the lock of its state: the plan looks on without it.
	planned := env.run("plan", "-lock=false")
	for _, r := range []result{first.wait(), second.wait(), planned} {
		if r.code != 0 {
			t.Errorf("terraform %v: exit code %d\n%s", r.args, r.code, r.output)
		}
		if strings.Contains(r.output, "database is locked") {
			t.Errorf("terraform %v: %s", r.args, r.output)
		}
	}
	if n := len(env.list(store.KindInstance)); n != 2 {
		t.Errorf("the store holds %d instances, expected 2", n)
	}
	env.expectEmptyPlan()
	other.expectEmptyPlan()
	first, second = env.start("destroy", "-auto-approve"), other.start("destroy", "-auto-approve")
	for _, r := range []result{first.wait(), second.wait()} {
		if r.code != 0 {
			t.Errorf("terraform %v: exit code %d\n%s", r.args, r.code, r.output)
		}
	}
	env.destroyed()
	other.destroyed()
}

// TestAccTwoRuns_sameName applies the same name twice on one VIM: while the first
// creation runs the second one reports who is at work, and afterwards whose the
// name is.
func TestAccTwoRuns_sameName(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.write(env.store.Provider(), env.vims(), pkg(acctest.ExamplePackage(t, "hello")))
	env.apply()
	stuck := failing(t)
	good := acctest.ExamplePackage(t, "hello")
	vim := env.resource("vnf_vim.test").text("id")

	other := &testEnv{module: newModule(t, env.tools), targetCluster: env.targetCluster, gateway: env.gateway, store: env.store, records: env.records, namespace: env.namespace}
	other.write(other.store.Provider(), strings.ReplaceAll(pkg(good), `"test"`, `"other"`),
		strings.NewReplacer("vnf_vim.test.id", `"`+vim+`"`, "vnf_package.test", "vnf_package.other").Replace(other.instance("test")))

	env.configure(stuck)
	waiting := env.gateway.expect(rollsOut())
	first := env.start("apply", "-auto-approve")
	select {
	case <-waiting:
	case <-first.done:
		t.Fatalf("terraform ended before it waited\n%s", first.wait().output)
	}
	other.expectOutput(other.expectExit(1, "apply", "-auto-approve"), "has been locked by ", " on host ", "Wait until that run has ended and apply again")
	require.NoError(t, first.cmd.Process.Signal(os.Interrupt))
	first.wait()
	id := env.expectResumable()
	other.expectOutput(other.expectExit(1, "apply", "-auto-approve"), "belongs to VNF instance "+id, "Choose another name")
	if o := other.state(address); o != nil {
		t.Errorf("the second run holds the instance: %v", o.values)
	}
	env.configure(good)
	env.apply()
	env.expectEmptyPlan()
	if got := env.resource(address).text("id"); got != id {
		t.Errorf("the instance %s became %s", id, got)
	}
	other.destroy()
	env.destroy()
	env.destroyed()
}

// TestAccRemoteRun runs as a pipeline does: no home that can be written, a working directory that is
// not written to, the key in the environment, plan and apply in processes of their
// own.
func TestAccRemoteRun(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	key, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	env.setHome("/dev/null")
	elsewhere := t.TempDir()
	env.env = append(env.env, seal.EnvKey+"="+key.String(), "TF_DATA_DIR="+filepath.Join(elsewhere, "data"))
	state, plan := "-state="+filepath.Join(elsewhere, "terraform.tfstate"), filepath.Join(elsewhere, "plan")
	parts := []string{env.vims(), pkg(acctest.ExamplePackage(t, "hello")), env.instance("test")}

	env.write(parts...)
	const remote = "set the provider argument store to { kubernetes = { ... } } or { postgres = { ... } }, a store that needs no disk"
	env.expectOutput(env.expectExit(1, "plan", state), "No Usable Store Path", "/dev/null/.local/state", remote)
	env.setHome("")
	env.expectOutput(env.expectExit(1, "plan", state), "No Usable Store Path", "neither XDG_STATE_HOME nor HOME is set", remote)

	provider := strings.ReplaceAll(env.store.Provider(), "encryption", "#")
	env.write(append(parts, provider)...)
	if err := os.Chmod(env.dir, 0o500); err != nil { //nolint:gosec // a directory needs its x bits
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(env.dir, 0o700) }) //nolint:gosec // so that it can be removed
	env.expectExit(0, "plan", state, "-out="+plan)
	env.expectExit(0, "apply", state, plan)
	if diff := cmp.Diff([]vnfm.InstanceStatus{vnfm.StatusInstantiated}, statuses(env)); diff != "" {
		t.Errorf("instances, expected (-) and stored (+):\n%s", diff)
	}
	env.expectExit(0, "plan", state, "-detailed-exitcode")
	entries, err := os.ReadDir(env.dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the working directory holds %v, %v; expected the configuration alone", entries, err)
	}
	if _, err := os.Stat(env.store.KeyFile); !os.IsNotExist(err) {
		t.Errorf("a key file was made although the key is in the environment: %v", err)
	}
	env.expectExit(0, "destroy", "-auto-approve", state)
	env.destroyed()
}

func statuses(env *testEnv) []vnfm.InstanceStatus {
	var out []vnfm.InstanceStatus
	for _, i := range decode[vnfm.Instance](env, store.KindInstance) {
		out = append(out, i.Status)
	}
	return out
}
