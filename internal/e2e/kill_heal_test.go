//go:build unix

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

// twoVDUPackage is the package hello with a second VDU, whose pods nobody but the VNF
// manager restarts: a StatefulSet that replaces its pods on deletion.
func twoVDUPackage(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "hello")
	acctest.Edit(t, dir, "hello.yaml", "\n  policies:\n", `
    db:
      type: tosca.nodes.nfv.Vdu.Compute
      properties:
        name: db
        description: database
        vdu_profile: { min_number_of_instances: 2, max_number_of_instances: 2 }

  policies:
    - db_initial_delta:
        type: tosca.policies.nfv.VduInitialDelta
        properties: { initial_delta: { number_of_instances: 2 } }
        targets: [db]
`)
	acctest.Write(t, dir, "Files/kubernetes/db.yaml", `apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  selector: { matchLabels: { app.kubernetes.io/name: db } }
  updateStrategy: { type: OnDelete }
  template:
    metadata: { labels: { app.kubernetes.io/name: db } }
    spec: { containers: [{ name: db, image: "registry.example.com/hello/db:1.0.0" }] }
`)
	acctest.Hash(t, dir)
	return dir
}

// recordPods follows the pods of the namespace.
type census struct {
	testEnv *testEnv
	stop    context.CancelFunc
	done    chan struct{}

	mu   sync.Mutex
	seen map[string]string
}

// recordPods begins to note every pod that there is and that comes, by its UID. It
// returns when it has seen all that there are.
func (env *testEnv) recordPods() *census {
	env.Helper()
	ctx, cancel := context.WithCancel(env.Context())
	c := &census{testEnv: env, stop: cancel, done: make(chan struct{}), seen: map[string]string{}}
	resp, err := env.server.Request(ctx, http.MethodGet, "/api/v1/namespaces/"+env.namespace+"/pods?watch=true", "", nil) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		cancel()
		env.Fatal(err)
	}
	go func() {
		defer close(c.done)
		defer func() { _ = resp.Body.Close() }()
		decoder := json.NewDecoder(resp.Body)
		for {
			var event struct {
				Object struct {
					Metadata struct {
						Name string `json:"name"`
						UID  string `json:"uid"`
					} `json:"metadata"`
				} `json:"object"`
			}
			if decoder.Decode(&event) != nil {
				return
			}
			c.mu.Lock()
			c.seen[event.Object.Metadata.UID] = event.Object.Metadata.Name
			c.mu.Unlock()
		}
	}()
	c.complete()
	return c
}

// complete waits until all pods that are there were seen, and returns how many pods
// were seen by now.
func (c *census) complete() int {
	c.testEnv.Helper()
	uids := strings.Fields(c.testEnv.kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.uid}"))
	limit := time.After(time.Minute)
	for {
		c.mu.Lock()
		missing := 0
		for _, uid := range uids {
			if _, ok := c.seen[uid]; !ok {
				missing++
			}
		}
		n := len(c.seen)
		c.mu.Unlock()
		if missing == 0 {
			return n
		}
		select {
		case <-limit:
			c.testEnv.Fatalf("%d pods did not come through the watch", missing)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// end stops the census and returns the pods that were seen.
func (c *census) end() map[string]string {
	c.testEnv.Helper()
	c.complete()
	c.stop()
	<-c.done
	return c.seen
}

// TestAccKill_heal kills heals of VNFCs, of VDUs and of everything. The next apply
// replaces what was not replaced, and nothing twice.
func TestAccKill_heal(t *testing.T) {
	t.Parallel()
	k := newKiller(newStoreEnv(t))
	source := twoVDUPackage(t)
	trigger := 0
	// configure asks for one of three heals, which replaces so many pods of the four.
	configure := func(n int) (what string, replaces int) {
		trigger++
		scale, targets := `scale_levels = { web = 1 }`, ""
		what, replaces = "everything", 4
		switch n % 3 {
		case 0:
			web := strings.Fields(k.kubectl("get", "pods", "-l", "app.kubernetes.io/name=web", "-o", "jsonpath={.items[*].metadata.name}"))
			targets = fmt.Sprintf(`, vnfc_ids = ["web-%s", "db-db-0"]`, web[0])
			what, replaces = "VNFCs", 2
		case 1:
			targets = `, vdu_ids = ["web", "db"]`
			what = "VDUs"
		}
		k.configure(source, scale, fmt.Sprintf(`heal = { trigger = "%d"%s }`, trigger, targets))
		return what, replaces
	}
	// Of a pod that comes back under its name the lab now and then takes the successor as
	// well, so that what was replaced twice is known by its author: the requests that
	// delete pods, and the changes of the Deployment.
	var from int
	var generation string
	generationNow := func() string { return k.kubectl("get", "deployment", "web", "-o", "jsonpath={.metadata.generation}") }
	begin := func() { from, generation = len(k.gateway.requests(0)), generationNow() }
	healed := func(seen map[string]string, replaces int) {
		k.expectEmptyPlan()
		k.expectConsistent()
		if came := len(seen) - 4; came < replaces {
			k.Errorf("%d pods have come for %d that were to be replaced: %v", came, replaces, seen)
		}
		deleted := 0
		for _, r := range k.gateway.requests(from) {
			if r.method == http.MethodDelete && strings.Contains(r.uri, "/pods/") && r.status == http.StatusOK {
				deleted++
			}
		}
		if deleted != 2 {
			k.Errorf("%d pods were deleted, and every heal deletes two", deleted)
		}
		if restarted := generationNow() != generation; restarted != (replaces == 4) {
			k.Errorf("whether the Deployment was restarted is %t", restarted)
		}
		if got := k.kubectl("get", "pods", "-o", `jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}`); got != "True True True True" {
			k.Errorf("after the heal the pods are ready: %s", got)
		}
		for _, op := range k.operations() {
			if len(op.Notes) > 0 {
				k.Errorf("operation %s is %s and still has the notes %v", op.Type, op.State, op.Notes)
			}
		}
	}
	k.configure(source, `scale_levels = { web = 1 }`)
	k.apply()
	k.expectEmptyPlan()
	// The writes of each heal: the Lease comes and goes, two pods are deleted, the Deployment is
	// marked. A soak counts them.
	writes := [3]int{4, 5, 5}
	for n := range writes {
		if !k.sampler.Soak() {
			break
		}
		pods := k.recordPods()
		what, replaces := configure(n)
		begin()
		writes[n], _ = k.measure("apply", "-auto-approve")
		k.waitForPods(4)
		healed(pods.end(), replaces)
		t.Logf("undisturbed: %s: %d writes", what, writes[n])
	}
	// One of each heal at least.
	for n := range k.sampler.Kills(3) {
		k.waitForPods(4)
		pods := k.recordPods()
		what, replaces := configure(n)
		begin()
		i := k.atWrite(n, writes[n%3])
		k.step("heal of "+what, n, i, func() {
			k.kill("heal of "+what, i, "apply", "-auto-approve")
			k.apply()
			k.waitForPods(4)
			healed(pods.end(), replaces)
		})
	}
	k.destroy()
	k.destroyed()
	k.report()
}

// waitForPods waits until no more than so many pods are there: those that a roll-out has
// replaced go by themselves.
func (env *testEnv) waitForPods(n int) {
	env.Helper()
	limit := time.After(time.Minute)
	for {
		pods := strings.Fields(env.kubectl("get", "pods", "-o", "name"))
		if len(pods) <= n {
			return
		}
		select {
		case <-limit:
			env.Fatalf("there are the pods %v, want %d", pods, n)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
