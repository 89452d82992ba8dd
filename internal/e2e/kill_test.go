package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// kills is how many times each operation is killed.
const kills = 10

// killer ends processes with SIGKILL at random instants.
type killer struct {
	*world
	random *rand.Rand
	// hits counts the kills that met a provider at work, tries counts all.
	hits, tries map[string]int
}

func newKiller(w *world) *killer {
	seed := uint64(time.Now().UnixNano())
	w.Logf("seed %d", seed)
	return &killer{
		world: w, hits: map[string]int{}, tries: map[string]int{},
		random: rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // instants, not secrets
	}
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

// instant chooses the instant of the n-th kill of an operation that has so many
// writes and takes so long when nobody kills it.
func (k *killer) instant(n, writes int, takes time.Duration) instant {
	i := instant{terraform: n%3 == 2}
	if n%5 == 4 {
		i.after = time.Duration(k.random.Int64N(int64(takes)))
		return i
	}
	return k.atWrite(n, writes)
}

// atWrite is instant for an operation with few writes: one of them springs the trap.
func (k *killer) atWrite(n, writes int) instant {
	return instant{terraform: n%3 == 2, write: 1 + k.random.IntN(writes), before: k.random.IntN(2) == 0}
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
	if i.write == 0 {
		timer := time.NewTimer(i.after)
		select {
		case <-timer.C:
			shoot()
		case <-run.done:
			timer.Stop()
		}
	}
	got := run.wait()
	k.gateway.sprung()
	k.tries[operation]++
	met := false
	select {
	case met = <-hit:
	default:
	}
	// A kill after a time counts when the work had begun and had not ended.
	met = met && k.gateway.writes(from) > 0 && got.code != 0
	if met {
		k.hits[operation]++
	} else {
		k.Logf("%s: %s: did not meet the work, exit code %d", operation, i, got.code)
	}
}

// end kills a process that may have ended already.
func end(pid int) {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		panic(err)
	}
}

// measure runs terraform undisturbed and returns its writes and time.
func (k *killer) measure(args ...string) (writes int, takes time.Duration) {
	k.Helper()
	from, began := len(k.gateway.requests(0)), time.Now()
	k.must(0, args...)
	return k.gateway.writes(from), time.Since(began)
}

func (k *killer) report() {
	for operation, n := range k.tries {
		k.Logf("%s: %d of %d kills met the work", operation, k.hits[operation], n)
		if k.hits[operation]*2 < n {
			k.Errorf("%s: most kills met nothing: the test shows little", operation)
		}
	}
}

// TestAccKill_createAndDestroy kills instantiations and terminations of the 5G
// core. What follows must end as if nothing had happened.
func TestAccKill_createAndDestroy(t *testing.T) {
	t.Parallel()
	k := newKiller(newWorld(t))
	k.configure(acctest.ExamplePackage(t, "core5g"))
	creates, createTime := k.measure("apply", "-auto-approve")
	k.settled()
	k.exact()
	destroys, destroyTime := k.measure("destroy", "-auto-approve")
	k.destroyed()
	t.Logf("undisturbed: apply %d writes in %v, destroy %d writes in %v", creates, createTime, destroys, destroyTime)
	for n := range kills {
		if n == kills/2 {
			// From here on the namespace is somebody else's and stays.
			k.lab.Kubectl(t, "create", "namespace", k.namespace)
			k.foreign = true
		}
		i := k.instant(n, creates, createTime)
		k.step("create", n, i, func() {
			k.kill("create", i, "apply", "-auto-approve")
			k.apply()
			k.settled()
			k.exact()
		})
		i = k.instant(n, destroys, destroyTime)
		k.step("destroy", n, i, func() {
			k.kill("destroy", i, "destroy", "-auto-approve")
			k.destroy()
			k.destroyed()
		})
	}
	k.report()
}

// step runs one kill and what follows and stops the test with the first failure.
func (k *killer) step(operation string, n int, i instant, f func()) {
	k.Helper()
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
	k := newKiller(newWorld(t))
	packages := []string{acctest.ExamplePackage(t, "core5g"), nextRelease(t)}
	levels := []string{`scale_levels = { control-plane = 0, user-plane = 1 }`, `scale_levels = { control-plane = 2, user-plane = 0 }`}
	k.configure(packages[0], levels[0])
	k.apply()
	k.configure(packages[1], levels[1])
	writes, takes := k.measure("apply", "-auto-approve")
	k.settled()
	k.exact()
	k.configure(packages[0], levels[0])
	back, backTakes := k.measure("apply", "-auto-approve")
	writes, takes = min(writes, back), min(takes, backTakes)
	id := k.resource(address).text("id")
	t.Logf("undisturbed: apply at least %d writes in %v", writes, takes)
	for n := range kills {
		i := k.instant(n, writes, takes)
		k.step("update", n, i, func() {
			k.configure(packages[(n+1)%2], levels[(n+1)%2])
			k.kill("update", i, "apply", "-auto-approve")
			k.apply()
			k.settled()
			k.exact()
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
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(data), ":1.4.0", ":1.5.0")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	acctest.Write(t, dir, "Files/kubernetes/release.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: release\ndata:\n  version: 1.5.0\n")
	acctest.Hash(t, dir)
	return dir
}
