package e2e_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// next returns a runner that follows another one: a directory, a HOME and a TMPDIR of its own, and nothing of the other one but the
// files that a pipeline hands over.
func (m *module) next(files ...string) *module {
	m.Helper()
	n := newModule(m.TB, m.tools)
	n.isolation = m.isolation
	n.take(m.dir, append([]string{"main.tf", "terraform.tfstate"}, files...)...)
	return n
}

// take copies files of another directory.
func (m *module) take(from string, files ...string) {
	m.Helper()
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(from, name))
		if name == "terraform.tfstate" && errors.Is(err, fs.ErrNotExist) {
			continue // A run that was killed may not have written one.
		}
		require.NoError(m, err)
		require.NoError(m, os.WriteFile(filepath.Join(m.dir, name), data, 0o600))
	}
}

// expectNoTrace checks that the runs of a runner left nothing in its HOME and its TMPDIR, and in its directory nothing but what
// terraform writes.
func (m *module) expectNoTrace() {
	m.Helper()
	for _, dir := range []string{m.home, m.tmp, m.dir} {
		entries, err := os.ReadDir(dir)
		require.NoError(m, err)
		for _, e := range entries {
			if dir != m.dir || !slices.Contains([]string{"main.tf", "plan", "terraform.tfstate", "terraform.tfstate.backup"}, e.Name()) {
				m.Errorf("a run left %s", filepath.Join(dir, e.Name()))
			}
		}
	}
}

// TestAccRunners leads an instance through its life, each step on a new runner, with stores that outlive them: a plan that was made on
// one is applied on the next, and a role that may only read the store plans.
func TestAccRunners(t *testing.T) {
	t.Parallel()
	for name, remote := range remoteStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			store := remote(t, env)
			provider := func(store string) string { return fmt.Sprintf("provider \"vnf\" {\n  store = { %s }\n}\n", store) }
			configure := func(m *module, arguments ...string) {
				m.write(provider(store.full), env.vims(), pkg(acctest.ExamplePackage(t, "core5g")), env.instance("test", arguments...))
			}
			// Nothing of ours outlives a run on its disk.
			next := func(after *module, files ...string) *module {
				n := after.next(files...)
				n.Cleanup(n.expectNoTrace)
				return n
			}
			// It plans as others do, and has no error and at most one warning.
			planner := func(after *module, code int, more string, arguments ...string) string {
				m := next(after)
				m.setHome("/dev/null")
				m.write(provider(store.reading), env.vims(), pkg(acctest.ExamplePackage(t, "core5g")), env.instance("test", arguments...), more)
				out := m.expectExit(code, "plan", "-detailed-exitcode").output
				if n := strings.Count(out, "Warning: "); n > 1 {
					t.Errorf("the plan of a role that may only read has %d warnings:\n%s", n, out)
				}
				return out
			}
			// The first plan travels too: nothing is there yet.
			first := env.module
			first.Cleanup(first.expectNoTrace)
			configure(first)
			first.expectExit(0, "plan", "-out=plan")
			if err := os.WriteFile(filepath.Join(first.dir, "terraform.tfstate"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			second := next(first, "plan")
			second.expectExit(0, "apply", "plan")
			id := second.resource(address).text("id")

			// VIM, package and instance were not read since they were made, so their records are not acknowledged.
			planner(second, 0, "")
			third := next(second)
			third.setHome("")
			third.expectExit(0, "plan", "-detailed-exitcode")
			configure(third, `description = "edge"`, `scale_levels = { "user-plane" = 1 }`)
			third.expectExit(0, "plan", "-out=plan")
			fourth := next(third, "plan")
			fourth.setHome("/dev/null")
			fourth.expectExit(0, "apply", "plan")
			if got := fourth.resource(address); got.text("id") != id || got.text("description") != "edge" {
				t.Errorf("the instance is %v", got.values)
			}

			fifth := next(fourth)
			fifth.expectExit(0, "plan", "-detailed-exitcode")
			env.kubectl("delete", "service/amf")
			creation := strings.ReplaceAll(env.instance("another"), `"vnf_instance" "test"`, `"vnf_instance" "another"`)
			seen := planner(fifth, 2, creation, `description = "edge"`, `scale_levels = { "user-plane" = 1 }`)
			require.Contains(t, seen, "Plan: 1 to add, 1 to change, 0 to destroy")
			fifth.expectExit(0, "plan", "-destroy", "-out=plan")
			next(fifth, "plan").expectExit(0, "apply", "plan")
			if left := env.uids(); len(left) > 0 {
				t.Errorf("after the destroy there are %v", left)
			}
		})
	}
}

// TestAccRunners_workloadCluster leads a workload cluster through its life, each step on a new runner.
func TestAccRunners_workloadCluster(t *testing.T) {
	t.Parallel()
	labtest.ClusterAPI(t)
	env := newEnv(t)
	env.useRemote(t, "kubernetes")
	env.workloadCluster("1.34.0", 1)
	env.apply()
	id := env.resource(clusterAddress).text("id")
	env.moveOn()
	env.machines("1.34.0", 1)
	env.moveOn()
	env.workloadCluster("1.34.0", 2)
	env.apply()
	require.Equal(t, id, env.resource(clusterAddress).text("id"))
	env.moveOn()
	env.machines("1.34.0", 2)
	env.moveOn()
	env.destroy()
	left := env.lab.Kubectl(t, "get", "clusters,machines,kubeadmcontrolplanes,devmachinetemplates", "-n", env.namespace, "-o", "name", "--ignore-not-found")
	require.Empty(t, left)
	env.expectNothing()
}
