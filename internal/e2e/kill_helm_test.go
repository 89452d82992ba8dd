//go:build unix

package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

const chartDir = "Artifacts/Charts/ims/"

// nextChart is the package ims-helm with another version of its chart, which drops
// one object and brings another.
func nextChart(t *testing.T) string {
	t.Helper()
	dir := acctest.CopyPackage(t, "ims-helm")
	acctest.Edit(t, dir, chartDir+"Chart.yaml", "version: 1.0.0\nappVersion: 1.0.0", "version: 1.1.0\nappVersion: 1.1.0")
	acctest.Edit(t, dir, chartDir+"templates/availability.yaml", `Has "policy/v1/PodDisruptionBudget"`, `Has "policy/v2"`)
	acctest.Write(t, dir, chartDir+"templates/release.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-release }\ndata: { version: {{ .Chart.Version }} }\n")
	acctest.Hash(t, dir)
	return dir
}

// expectReleases checks the history of the release: what was interrupted has failed, what
// was deployed before is superseded, and the last revision alone is deployed, with
// that version of the chart. Hooks have left nothing.
func (env *testEnv) expectReleases(version string) {
	env.Helper()
	var numbers []int
	var states []string
	for _, line := range strings.Fields(env.kubectl("get", "secrets", "-l", "owner=helm,name=test",
		"-o", `jsonpath={range .items[*]}{.metadata.labels.version}={.metadata.labels.status}{"\n"}{end}`)) {
		var n int
		number, state, _ := strings.Cut(line, "=")
		if _, err := fmt.Sscan(number, &n); err != nil {
			env.Fatalf("revision %q: %v", line, err)
		}
		at, _ := slices.BinarySearch(numbers, n)
		numbers, states = slices.Insert(numbers, at, n), slices.Insert(states, at, state)
	}
	for i, state := range states {
		last := i == len(states)-1
		if (state == "deployed") != last || (!last && state != "failed" && state != "superseded") || numbers[i] != numbers[0]+i {
			env.Errorf("the revisions %v of the release are %v", numbers, states)
			break
		}
	}
	if len(states) == 0 {
		env.Error("the release has no revision")
	}
	if got := env.kubectl("get", "deployment", "test-cscf", "-o", `jsonpath={.metadata.labels.helm\.sh/chart}`); got != "ims-"+version {
		env.Errorf("the Deployment is of chart %s, want version %s", got, version)
	}
	if left := env.kubectl("get", "jobs", "-o", "name"); left != "" {
		env.Errorf("left of hooks: %s", left)
	}
}

// TestAccKill_helm kills instantiations, changes of the package and terminations of a
// Helm chart with hooks.
func TestAccKill_helm(t *testing.T) {
	t.Parallel()
	k := newKiller(newStoreEnv(t))
	packages := []string{acctest.ExamplePackage(t, "ims-helm"), nextChart(t)}
	versions := []string{"1.0.0", "1.1.0"}
	const params = `additional_params = { helm_value_names = { cscf = { replica = "cscf.replicas" } } }`
	apply := func(version int, run func(args ...string)) {
		k.configure(packages[version], params)
		run("apply", "-auto-approve")
		k.expectEmptyPlan()
		k.expectConsistent()
		k.expectReleases(versions[version])
	}
	gone := func() {
		k.destroyed()
		if left := k.kubectl("get", "secrets,jobs", "-l", "app.kubernetes.io/managed-by=Helm", "-o", "name") + k.kubectl("get", "secrets", "-l", "owner=helm", "-o", "name"); left != "" {
			k.Errorf("left of the release: %s", left)
		}
	}
	// The writes of each operation, which a soak counts.
	writes := [3]int{13, 19, 11}
	if k.sampler.Soak() {
		undisturbed := func(i int) func(...string) {
			return func(args ...string) { writes[i], _ = k.measure(args...) }
		}
		apply(0, undisturbed(0))
		apply(1, undisturbed(1))
		undisturbed(2)("destroy", "-auto-approve")
		gone()
		t.Logf("undisturbed: writes %v", writes)
	}
	// A kill of each, and two of the update: there and back.
	kills := k.sampler.Kills(1)
	for n := range kills {
		// In half of a soak, and in one commit of two, the namespace exists before the instance and stays.
		if kills > 1 && n == kills/2 || kills == 1 && k.sampler.IntN(2) == 0 {
			k.takeNamespace()
		}
		for at, step := range []struct {
			operation string
			version   int
		}{{"create", 0}, {"update", 1}, {"update back", 0}} {
			i := k.atWrite(n+at, writes[min(at, 1)])
			if n == 0 && at == 1 {
				// The new revision is deployed, and the one before it is not superseded yet:
				// that and the end of the lease come last.
				i = instant{write: writes[1] - 2}
			}
			k.step(step.operation, n, i, func() {
				apply(step.version, func(args ...string) {
					k.kill(step.operation, i, args...)
					k.apply()
				})
			})
		}
		i := k.atWrite(n+3, writes[2])
		k.step("destroy", n, i, func() {
			k.kill("destroy", i, "destroy", "-auto-approve")
			k.destroy()
			gone()
		})
	}
	k.report()
}
