//go:build unix

package e2e_test

import (
	"cmp"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// envRunners has each life run with each store when it is "all".
const envRunners = "VNF_RUNNERS"

// runnerStoresOf are the stores with which a life runs, by its test, unless each one is asked for: those that a run of all tests has time
// for.
var runnerStoresOf = map[string][]string{
	"TestAccRunners_core5g":          {"kubernetes"},
	"TestAccRunners_workloadCluster": {"kubernetes"},
	"TestAccRunners_registry":        {noStore},
	// These take minutes. TestAccOpenStack_interrupted has runners.
	"TestAccRunners_openStack": {},
	"TestAccRunners_kubespray": {},
}

// runnerStores are the stores with which the life of a test runs.
func runnerStores(t *testing.T) []string {
	t.Helper()
	switch asked := os.Getenv(envRunners); asked {
	case "all":
		return []string{"kubernetes", "postgres", noStore}
	case "":
		stores, ok := runnerStoresOf[t.Name()]
		require.True(t, ok, "no stores are named for %s", t.Name())
		if len(stores) == 0 {
			t.Skipf("it takes minutes, and runs with each store in `make runners` (%s=all)", envRunners)
		}
		return stores
	default:
		t.Fatalf("%s is %q, and must be all or empty", envRunners, asked)
		return nil
	}
}

// life is that of one object. Each step of it is on a new runner, which has a HOME that is empty, none, or one that cannot be written
// to, and gets configuration, state and at most a plan.
type life struct {
	env *testEnv
	// address is the object's in the configuration.
	address string
	// made and changed write the configuration by which it is made, and later changed in place.
	made, changed func()
	// drift changes behind Terraform's back what the plan then says, "Plan: 0 to add, 1 to change, 0 to destroy" unless seen is another.
	drift func()
	seen  string
	// parts identify what the object consists of: nothing of it is made again by the change.
	parts func() map[string]string
	// check checks the object after it was made and after it was changed, gone that nothing of it is left.
	check func(changed bool)
	gone  func()
	// destroyed destroys on the runner that comes last, after a failure where one is to be expected; nil is a plan there and its apply on
	// another one.
	destroyed func()
	// observe replaces the plan of a new runner. Nil is the usual one.
	observe func(code int) result

	runners int
}

// eachStore leads lives with the stores of runnerStores. Each logs a line, which scripts/runners makes a table of: "runners: TEST STORE
// RESULT SECONDS".
func eachStore(t *testing.T, newLife func(t *testing.T, store string) *life) {
	t.Helper()
	of := t.Name()
	for _, name := range runnerStores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			t.Cleanup(func() {
				outcome := "ok"
				switch {
				case t.Failed():
					outcome = "FAILED"
				case t.Skipped():
					outcome = "skipped"
				}
				t.Logf("runners: %s %s %s %.0f", of, name, outcome, time.Since(began).Seconds())
			})
			newLife(t, name).lead()
		})
	}
}

// lead leads the life from the first plan to the last destroy.
func (l *life) lead() {
	env := l.env
	env.Helper()
	l.made()
	env.expectExit(0, "plan", "-out=plan")
	l.moveOn("plan")
	env.expectExit(0, "apply", "plan")
	id := env.resource(l.address).text("id")
	l.look(0)
	l.check(false)

	l.drift()
	parts := l.parts()
	require.NotEmpty(env, parts)
	env.expectOutput(l.look(2), cmp.Or(l.seen, "Plan: 0 to add, 1 to change, 0 to destroy"))

	l.moveOn()
	l.changed()
	env.expectExit(2, "plan", "-detailed-exitcode", "-out=plan")
	l.moveOn("plan")
	env.expectExit(0, "apply", "plan")
	require.Equal(env, id, env.resource(l.address).text("id"))
	for part, identity := range l.parts() {
		if before, ok := parts[part]; ok && before != identity {
			env.Errorf("%s was %s and became %s", part, before, identity)
		}
		delete(parts, part)
	}
	require.Empty(env, parts, "gone with the change")
	l.moveOn()
	env.expectExit(0, "plan", "-detailed-exitcode")
	l.check(true)

	l.moveOn()
	if l.destroyed != nil {
		l.destroyed()
	} else {
		env.expectExit(0, "plan", "-destroy", "-out=plan")
		l.moveOn("plan")
		env.expectExit(0, "apply", "plan")
	}
	l.expectNoTrace()
	l.gone()
}

// moveOn goes on with another runner.
func (l *life) moveOn(files ...string) {
	l.env.Helper()
	l.expectNoTrace()
	l.env.moveOn(files...)
	l.runners++
	if l.env.remote != nil {
		l.env.setHome([]string{l.env.home, "", "/dev/null"}[l.runners%3])
	}
}

// expectNoTrace checks that nothing of ours is left on the disk of the runner but, without another store, the default one.
func (l *life) expectNoTrace() {
	l.env.Helper()
	if l.env.forgetful {
		l.env.expectNoTrace(l.env.tmp)
		return
	}
	l.env.expectNoTrace(l.env.home, l.env.tmp)
}

// look plans on another runner, with an exit code and at most one warning.
func (l *life) look(code int) result {
	l.env.Helper()
	var seen result
	if l.observe != nil {
		seen = l.observe(code)
	} else {
		l.moveOn()
		seen = l.env.expectExit(code, "plan", "-detailed-exitcode")
	}
	// Terraform itself warns of a provider that no registry has.
	if n := strings.Count(seen.output, "Warning: ") - strings.Count(seen.output, "Warning: Provider development overrides"); n > 1 {
		l.env.Errorf("the plan has %d warnings:\n%s", n, seen.output)
	}
	return seen
}
