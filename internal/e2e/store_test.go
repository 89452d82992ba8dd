package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestAccLostStore deletes the store between two applies, and at last its key with it, as
// another machine begins. The next apply writes the records again, under the same ids, and
// touches no object: the digests of Secrets are what they were, and no pod is replaced.
func TestAccLostStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure(acctest.ExamplePackage(t, "core5g"))
	w.apply()
	ids := func() map[string]string {
		out := map[string]string{}
		for _, a := range []string{"vnf_vim.test", "vnf_package.test", address} {
			out[a] = w.resource(a).text("id")
		}
		return out
	}
	pods := func() string { return w.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}") }
	before, objects, running := ids(), w.uids(), pods()
	digests := w.resource(address).values["objects"]

	w.loseStore()
	got := w.must(1, "destroy", "-auto-approve")
	w.says(got, `Record of VNF Instance "test" Is Missing`, "Run terraform apply first")
	if diff := cmp.Diff(objects, w.uids()); diff != "" {
		t.Errorf("the refused destroy changed objects (-before +after):\n%s", diff)
	}

	w.loseStore()
	if err := os.Remove(w.store.KeyFile); err != nil {
		t.Fatal(err)
	}
	plan := w.must(2, "plan", "-detailed-exitcode")
	w.says(plan, `Record of VNF Instance "test" Is Missing`, "The next apply writes the record again")
	if diff := cmp.Diff(map[string][]string{"vnf_vim.test": {"update"}, "vnf_package.test": {"update"}, address: {"update"}}, w.actions()); diff != "" {
		t.Errorf("the plan over a lost store, expected (-) and planned (+):\n%s", diff)
	}
	w.apply()
	w.settled()
	w.exact()
	if diff := cmp.Diff(before, ids()); diff != "" {
		t.Errorf("ids before (-) and after (+) the loss of the store:\n%s", diff)
	}
	if diff := cmp.Diff(objects, w.uids()); diff != "" {
		t.Errorf("UIDs of objects before (-) and after (+) the loss of the store:\n%s", diff)
	}
	if now := pods(); running == "" || now != running {
		t.Errorf("pods %s became %s", running, now)
	}
	if diff := cmp.Diff(digests, w.resource(address).values["objects"]); diff != "" {
		t.Errorf("digests before (-) and after (+) the loss of the store and its key:\n%s", diff)
	}
	w.destroy()
	w.destroyed()
}

// loseStore removes everything but the key.
func (w *world) loseStore() {
	w.Helper()
	if err := w.records.Close(); err != nil {
		w.Fatal(err)
	}
	w.store.Clear(w)
	w.records = w.store.Records(w)
}

// TestAccTwoRuns applies two root modules on one store at once, and plans beside
// an apply.
func TestAccTwoRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure(acctest.ExamplePackage(t, "core5g"))
	other := newWorld(t)
	other.store, other.records = w.store, w.records
	other.configure(acctest.ExamplePackage(t, "hello"))

	writing := w.gateway.expect(request.write)
	first := w.start("apply", "-auto-approve")
	second := other.start("apply", "-auto-approve")
	select {
	case <-writing:
	case <-first.done:
	}
	// The first run holds the lock of its state: the plan looks on without it.
	planned := w.run("plan", "-lock=false")
	for _, r := range []result{first.wait(), second.wait(), planned} {
		if r.code != 0 {
			t.Errorf("terraform %v: exit code %d\n%s", r.args, r.code, r.output)
		}
		if strings.Contains(r.output, "database is locked") {
			t.Errorf("terraform %v: %s", r.args, r.output)
		}
	}
	if n := len(w.list(store.KindInstance)); n != 2 {
		t.Errorf("the store holds %d instances, expected 2", n)
	}
	w.settled()
	other.settled()
	first, second = w.start("destroy", "-auto-approve"), other.start("destroy", "-auto-approve")
	for _, r := range []result{first.wait(), second.wait()} {
		if r.code != 0 {
			t.Errorf("terraform %v: exit code %d\n%s", r.args, r.code, r.output)
		}
	}
	w.destroyed()
	other.destroyed()
}

// TestAccTwoRuns_sameName applies the same name twice on one VIM: while the first
// creation runs the second one is told who is at work, and afterwards whose the
// name is.
func TestAccTwoRuns_sameName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.store.Provider(), w.vims(), pkg(acctest.ExamplePackage(t, "hello")))
	w.apply()
	stuck := failing(t, "never-ready")
	good := acctest.ExamplePackage(t, "hello")
	vim := w.resource("vnf_vim.test").text("id")

	other := &world{module: newModule(t, w.tools), site: w.site, gateway: w.gateway, store: w.store, records: w.records, namespace: w.namespace}
	other.write(other.store.Provider(), strings.ReplaceAll(pkg(good), `"test"`, `"other"`),
		strings.NewReplacer("vnf_vim.test.id", `"`+vim+`"`, "vnf_package.test", "vnf_package.other").Replace(other.instance("test")))

	w.configure(stuck)
	waiting := w.gateway.expect(watching)
	first := w.start("apply", "-auto-approve")
	select {
	case <-waiting:
	case <-first.done:
		t.Fatalf("terraform ended before it waited\n%s", first.wait().output)
	}
	other.says(other.must(1, "apply", "-auto-approve"), "is being worked on by pid=", "Wait until that run has ended and apply again")
	if err := first.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	first.wait()
	id := w.resumable()
	other.says(other.must(1, "apply", "-auto-approve"), "belongs to VNF instance "+id, "Choose another name")
	if o := other.state(address); o != nil {
		t.Errorf("the second run holds the instance: %v", o.values)
	}
	w.configure(good)
	w.apply()
	w.settled()
	if got := w.resource(address).text("id"); got != id {
		t.Errorf("the instance %s became %s", id, got)
	}
	other.destroy()
	w.destroy()
	w.destroyed()
}

// TestAccRemoteRun runs as a pipeline does: no home, a working directory that is
// not written to, the key in the environment, plan and apply in processes of their
// own.
func TestAccRemoteRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	w.env = slices.DeleteFunc(w.env, func(e string) bool { return strings.HasPrefix(e, "HOME=") })
	elsewhere := t.TempDir()
	w.env = append(w.env, seal.EnvKey+"="+key.String(), "TF_DATA_DIR="+filepath.Join(elsewhere, "data"))
	state, plan := "-state="+filepath.Join(elsewhere, "terraform.tfstate"), filepath.Join(elsewhere, "plan")
	parts := []string{w.vims(), pkg(acctest.ExamplePackage(t, "hello")), w.instance("test")}

	w.write(parts...)
	w.says(w.must(1, "plan", state), "No Place for the Store", "neither XDG_STATE_HOME nor HOME is set", "store = { local = { path")

	provider := strings.ReplaceAll(w.store.Provider(), "encryption", "#")
	w.write(append(parts, provider)...)
	if err := os.Chmod(w.dir, 0o500); err != nil { //nolint:gosec // a directory needs its x bits
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(w.dir, 0o700) }) //nolint:gosec // so that it can be removed
	w.must(0, "plan", state, "-out="+plan)
	w.must(0, "apply", state, plan)
	if diff := cmp.Diff([]vnfm.InstanceStatus{vnfm.StatusInstantiated}, statuses(w)); diff != "" {
		t.Errorf("instances, expected (-) and stored (+):\n%s", diff)
	}
	w.must(0, "plan", state, "-detailed-exitcode")
	entries, err := os.ReadDir(w.dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the working directory holds %v, %v; expected the configuration alone", entries, err)
	}
	if _, err := os.Stat(w.store.KeyFile); !os.IsNotExist(err) {
		t.Errorf("a key file was made although the key is in the environment: %v", err)
	}
	w.must(0, "destroy", "-auto-approve", state)
	w.destroyed()
}

func statuses(w *world) []vnfm.InstanceStatus {
	var out []vnfm.InstanceStatus
	for _, i := range decode[vnfm.Instance](w, store.KindInstance) {
		out = append(out, i.Status)
	}
	return out
}
