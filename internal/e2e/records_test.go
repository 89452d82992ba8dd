//go:build unix

package e2e_test

import (
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// recordInterval is how often the store is looked at for a record to come or go.
const recordInterval = 2 * time.Millisecond

// killAt runs terraform and kills its provider as soon as the store shows what is
// waited for. It reports whether that was met. Terraform itself lives: it writes its
// state in place, and one that is killed in that moment loses the state.
func (env *testEnv) killAt(met func() bool, args ...string) bool {
	env.Helper()
	run := env.start(args...)
	tick := time.NewTicker(recordInterval)
	defer tick.Stop()
	for {
		select {
		case <-run.done:
			run.wait()
			return false
		case <-tick.C:
		}
		if !met() {
			continue
		}
		for _, pid := range run.providers() {
			end(pid)
		}
		return run.wait().code != 0
	}
}

// TestAccKill_records kills the provider right after a record was written, when Terraform has not heard of the object, and right after one was
// removed, when Terraform still believes in it.
func TestAccKill_records(t *testing.T) {
	t.Parallel()
	for _, kind := range []store.Kind{store.KindVIM, store.KindPackage, store.KindInstance, store.KindOperation} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			env.foreign = true
			env.lab.Kubectl(t, "create", "namespace", env.namespace)
			env.configure(acctest.ExamplePackage(t, "hello"))
			if !env.killAt(func() bool { return len(env.list(kind)) > 0 }, "apply", "-auto-approve") {
				t.Log("the apply ended before the kill")
			}
			env.apply()
			env.expectEmptyPlan()
			env.expectConsistent()
			if !env.killAt(func() bool { return env.noRecords(kind) }, "destroy", "-auto-approve") {
				t.Log("the destroy ended before the kill")
			}
			env.destroy()
			env.destroyed()
		})
	}
}

// noRecords reports whether the records of a kind are gone. The operation that
// terminated an instance may stay until Terraform has heard of it.
func (env *testEnv) noRecords(kind store.Kind) bool {
	env.Helper()
	if kind == store.KindOperation {
		return len(env.list(kind)) <= 1 && len(env.list(store.KindInstance)) == 0
	}
	return len(env.list(kind)) == 0
}
