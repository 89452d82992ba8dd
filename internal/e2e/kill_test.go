//go:build unix

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/killtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/proctest"
)

// killer ends processes with SIGKILL at instants of its choice.
type killer struct {
	*testEnv
	sampler *killtest.Sampler
	// atWrites counts the kills at a write of each operation, missed those of them that met
	// nothing.
	atWrites, missed map[string]int
}

func newKiller(env *testEnv) *killer {
	env.Helper()
	return &killer{testEnv: env, sampler: killtest.New(env), atWrites: map[string]int{}, missed: map[string]int{}}
}

// instant is when and what to kill.
type instant struct {
	// write is the number of the request that springs the trap, before or after
	// the server got it; 0 kills after a time.
	write  int
	before bool
	after  time.Duration
	// terraform is killed as well.
	terraform bool
}

func (i instant) String() string {
	what := "provider"
	if i.terraform {
		what = "terraform and provider"
	}
	switch {
	case i.write == 0:
		return fmt.Sprintf("%s after %v", what, i.after)
	case i.before:
		return fmt.Sprintf("%s before write %d", what, i.write)
	default:
		return fmt.Sprintf("%s after write %d", what, i.write)
	}
}

// kinds are the kinds of instants, in the order in which an operation is killed at them. The
// first of two is at a write, which is certain to meet the work.
var kinds = []struct{ timed, before, terraform bool }{
	{before: true},
	{timed: true, terraform: true},
	{},
	{timed: true},
	{before: true, terraform: true},
	{terraform: true},
}

// firstKind is the kind of instant at which an operation is killed first. Two kills of each
// operation are then of all kinds.
var firstKind = map[string]int{"create": 0, "destroy": 2, "update": 4}

// instant chooses the instant of the n-th kill of an operation that has so many
// writes and takes so long when nobody kills it.
func (k *killer) instant(operation string, n, writes int, takes time.Duration) instant {
	kind := kinds[(firstKind[operation]+n)%len(kinds)]
	i := instant{terraform: kind.terraform, before: kind.before}
	if kind.timed {
		i.after = time.Duration(k.sampler.Int64N(int64(takes)))
	} else {
		i.write = k.randomWrite(writes)
	}
	return i
}

// randomWrite chooses one of so many writes. Not every run of many writes has all that were counted
// in another, so that a few kills are made before the last ones, to be sure to meet a write. So are those with a remote store, whose
// writes vary more.
func (k *killer) randomWrite(writes int) int {
	if !k.sampler.Soak() || k.remote != nil {
		writes -= writes / 8
	}
	return 1 + k.sampler.IntN(writes)
}

// atWrite is instant for an operation with few writes: one of them springs the trap. Four
// kills are of all kinds.
func (k *killer) atWrite(n, writes int) instant {
	return instant{write: k.randomWrite(writes), before: n%2 == 0, terraform: n%4 > 1}
}

// kill runs terraform and kills at the instant.
func (k *killer) kill(operation string, i instant, args ...string) {
	k.Helper()
	ready := make(chan struct{})
	var run *running
	hit := make(chan bool, 1)
	shoot := func() {
		<-ready
		targets := run.providers()
		if i.terraform {
			end(run.cmd.Process.Pid)
		}
		for _, pid := range targets {
			end(pid)
		}
		hit <- len(targets) > 0
	}
	if i.write > 0 {
		k.gateway.set(i.write, i.before, shoot)
	}
	from := len(k.gateway.requests(0))
	run = k.start(args...)
	close(ready)
	timed := false
	if i.write == 0 {
		timer := time.NewTimer(i.after)
		select {
		case <-timer.C:
			timed = true
			shoot()
		case <-run.done:
			timer.Stop()
		}
	}
	got := run.wait()
	sprung := k.gateway.triggered()
	// A kill of terraform ends the run before the kill of its provider has returned.
	met := (sprung != nil || timed) && <-hit
	writes := k.gateway.writes(from)
	// A kill after a time counts when the work had begun and had not ended.
	met = met && writes > 0 && got.code != 0
	if i.write > 0 {
		k.atWrites[operation]++
	}
	seen := k.gateway.requests(from)
	if sprung != nil {
		seen = []request{*sprung}
	}
	if len(seen) > 0 {
		k.Logf("%s: %s: at %s", operation, i, seen[len(seen)-1])
	}
	k.moveOn()
	if met {
		k.sampler.Met(operation)
		return
	}
	if i.write > 0 {
		k.missed[operation]++
	}
	k.Logf("%s: %s: did not meet the work, which had %d writes, exit code %d", operation, i, writes, got.code)
}

// end kills a process that may have ended already.
func end(pid int) {
	if err := proctest.Kill(pid); err != nil {
		panic(err)
	}
}

// measure runs terraform undisturbed and returns its writes and time.
func (k *killer) measure(args ...string) (writes int, takes time.Duration) {
	k.Helper()
	from, began := len(k.gateway.requests(0)), time.Now()
	k.expectExit(0, args...)
	return k.gateway.writes(from), time.Since(began)
}

// report expects that kills have met the work. Those after a time may come too early or too
// late; those at a write meet it, unless a run had fewer writes than the one that was counted.
func (k *killer) report() {
	k.Helper()
	for operation, n := range k.atWrites {
		k.Logf("%s: %d of %d kills at a write met the work", operation, n-k.missed[operation], n)
		if k.missed[operation]*4 > n {
			k.Errorf("%s: of %d kills at a write %d met nothing: the test shows little", operation, n, k.missed[operation])
		}
	}
}

// TestAccKill_createAndDestroy kills instantiations and terminations of the 5G
// core. What follows must end as if nothing had happened.
func TestAccKill_createAndDestroy(t *testing.T) {
	t.Parallel()
	k := newKiller(newStoreEnv(t))
	k.configure(acctest.ExamplePackage(t, "core5g"))
	creates, createTime := k.measure("apply", "-auto-approve")
	k.expectEmptyPlan()
	k.expectConsistent()
	destroys, destroyTime := k.measure("destroy", "-auto-approve")
	k.destroyed()
	t.Logf("undisturbed: apply %d writes in %v, destroy %d writes in %v", creates, createTime, destroys, destroyTime)
	kills := k.sampler.Kills(2)
	for n := range kills {
		if n == kills/2 {
			k.takeNamespace()
		}
		i := k.instant("create", n, creates, createTime)
		k.step("create", n, i, func() {
			k.kill("create", i, "apply", "-auto-approve")
			k.apply()
			k.expectEmptyPlan()
			k.expectConsistent()
		})
		i = k.instant("destroy", n, destroys, destroyTime)
		k.step("destroy", n, i, func() {
			k.kill("destroy", i, "destroy", "-auto-approve")
			k.destroy()
			k.destroyed()
		})
	}
	k.report()
}

// takeNamespace makes the namespace itself, so that it is not the instance's and stays.
func (k *killer) takeNamespace() {
	k.Helper()
	if status, err := k.server.Do(k.Context(), http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"`+k.namespace+`"}}`); err != nil || status != http.StatusCreated {
		k.Fatalf("creating namespace %s: status %d, %v", k.namespace, status, err)
	}
	k.foreign = true
}

// step runs one kill and what follows and stops the test with the first failure.
func (k *killer) step(operation string, n int, i instant, f func()) {
	k.Helper()
	defer k.sampler.Begin(k, operation)()
	began := time.Now()
	failed := k.Failed()
	f()
	k.Logf("%s %d: %s: %v", operation, n, i, time.Since(began).Round(time.Millisecond))
	if !failed && k.Failed() {
		k.Fatalf("%s %d: %s: failed", operation, n, i)
	}
}

// TestAccKill_update kills changes of the package together with scaling.
func TestAccKill_update(t *testing.T) {
	t.Parallel()
	k := newKiller(newStoreEnv(t))
	packages := []string{acctest.ExamplePackage(t, "core5g"), nextRelease(t)}
	levels := []string{`scale_levels = { control-plane = 0, user-plane = 1 }`, `scale_levels = { control-plane = 2, user-plane = 0 }`}
	k.configure(packages[0], levels[0])
	k.apply()
	// So many writes there are at least; a soak counts them, and takes the time.
	writes, takes := 28, time.Second
	if k.sampler.Soak() {
		k.configure(packages[1], levels[1])
		writes, takes = k.measure("apply", "-auto-approve")
		k.expectEmptyPlan()
		k.expectConsistent()
		k.configure(packages[0], levels[0])
		back, backTakes := k.measure("apply", "-auto-approve")
		writes, takes = min(writes, back), min(takes, backTakes)
		t.Logf("undisturbed: apply at least %d writes in %v", writes, takes)
	}
	id := k.resource(address).text("id")
	for n := range k.sampler.Kills(2) {
		i := k.instant("update", n, writes, takes)
		k.step("update", n, i, func() {
			k.configure(packages[(n+1)%2], levels[(n+1)%2])
			k.kill("update", i, "apply", "-auto-approve")
			k.apply()
			k.expectEmptyPlan()
			k.expectConsistent()
			if got := k.resource(address).text("id"); got != id {
				k.Errorf("the instance %s became %s", id, got)
			}
		})
	}
	k.destroy()
	k.destroyed()
	k.report()
}

// nextRelease is the 5G core with other images and one ConfigMap more.
func nextRelease(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "core5g")
	manifests, err := filepath.Glob(filepath.Join(dir, "Files", "kubernetes", "*.yaml"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("manifests: %v, %v", manifests, err)
	}
	for _, path := range manifests {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		text := strings.ReplaceAll(string(data), ":1.4.0", ":1.5.0")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	acctest.Write(t, dir, "Files/kubernetes/release.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: release\ndata:\n  version: 1.5.0\n")
	acctest.Hash(t, dir)
	return dir
}
