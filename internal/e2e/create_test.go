package e2e_test

import (
	"strings"
	"testing"

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

// says checks that the output of a run holds texts.
func (w *world) says(r result, texts ...string) {
	w.Helper()
	said := r.text()
	for _, text := range texts {
		if !strings.Contains(said, text) {
			w.Errorf("terraform %v does not say %q:\n%s", r.args, text, r.output)
		}
	}
}

// gone checks that a failed creation left nothing: no state, no record, no object.
func (w *world) gone() {
	w.Helper()
	if o := w.state(address); o != nil {
		w.Errorf("the state holds the instance: %v", o.values)
	}
	w.nothing()
}

// TestAccCreate_nothing fails before anything exists.
func TestAccCreate_nothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.foreign = true
	w.lab.Kubectl(t, "create", "namespace", w.namespace)
	w.kubectl("create", "configmap", "web-content", "--from-literal=mine=1")
	w.configure(acctest.ExamplePackage(t, "hello"))
	r := w.must(1, "apply", "-auto-approve")
	w.says(r, `Unable to Instantiate VNF Instance "test"`, "web-content", "Nothing that belongs to somebody else was changed")
	w.gone()
	w.kubectl("delete", "configmap", "web-content")
	w.apply()
	w.settled()
	w.exact()
	w.destroy()
	w.destroyed()
}

// TestAccCreate_resume fails half-way and goes on later.
func TestAccCreate_resume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// A plan that asks the API server would not come that far a second time.
	w.configure(refused(t), `server_dry_run = false`)
	r := w.must(1, "apply", "-auto-approve")
	w.says(r, "Warning: VNF Instance \"test\" Is Not Instantiated Yet", "Resource postcondition failed", "The instance is FAILED_TEMP", "selector")
	id := w.resumable()
	again := w.must(1, "apply", "-auto-approve")
	w.says(again, "selector")
	if got := w.resumable(); got != id {
		t.Errorf("the instance %s became %s", id, got)
	}
	w.resume(id, acctest.ExamplePackage(t, "hello"))
	w.destroy()
	w.destroyed()
}

// TestAccCreate_rollback fails half-way and removes everything again, whether the
// server refuses something or the time is over.
func TestAccCreate_rollback(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure(refused(t), `on_failure = "rollback"`)
	r := w.must(1, "apply", "-auto-approve")
	w.says(r, `Unable to Instantiate VNF Instance "test"`, "everything that had been made was removed again", "selector")
	w.gone()

	w.configure(failing(t, "never-ready"), `on_failure = "rollback"`, `timeouts = { create = "5s" }`)
	r = w.must(1, "apply", "-auto-approve")
	w.says(r, `Unable to Instantiate VNF Instance "test"`, "everything that had been made was removed again", "web")
	w.gone()

	w.configure(acctest.ExamplePackage(t, "hello"), `on_failure = "rollback"`)
	w.apply()
	w.settled()
	w.exact()
	w.destroy()
	w.destroyed()
}

// TestAccCreate_timeout runs out of time with pods that do not become ready, and
// says which, and why.
func TestAccCreate_timeout(t *testing.T) {
	t.Parallel()
	for how, texts := range map[string][]string{
		"never-ready": {"ContainersNotReady"},
		"crash":       {"CrashLoopBackOff", "panic: cannot reach database: dial tcp: lookup database: no such host"},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.configure(failing(t, how), `timeouts = { create = "6s", update = "3m" }`)
			r := w.must(1, "apply", "-auto-approve")
			w.says(r, append(texts, "Is Not Instantiated Yet", "Deployment "+w.namespace+"/web: InProgress", "pod web-", "event: Normal ScalingReplicaSet", "The instance is FAILED_TEMP")...)
			w.resume(w.resumable(), acctest.ExamplePackage(t, "hello"))
			w.destroy()
			w.destroyed()
		})
	}
}
