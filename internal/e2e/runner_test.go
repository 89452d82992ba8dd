package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// next returns a runner that follows another one: a directory, a HOME and a TMPDIR of its own, and nothing of the other one but the
// files that a pipeline hands over. At the end of the test, nothing may be left in HOME and TMPDIR.
func (m *module) next(files ...string) *module {
	m.Helper()
	n := newModule(m.TB, m.tools)
	n.take(m.dir, append([]string{"main.tf", "terraform.tfstate"}, files...)...)
	n.Cleanup(n.expectNoTrace)
	return n
}

// take copies files of another directory.
func (m *module) take(from string, files ...string) {
	m.Helper()
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(from, name))
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
	// Each returns the store for a runner that does everything and for one that may only read it.
	for name, store := range map[string]func(t *testing.T, env *testEnv) (full, reading string){
		"kubernetes": func(t *testing.T, env *testEnv) (full, reading string) {
			t.Helper()
			namespace := env.lab.Namespace(t)
			with := func(token string) string {
				return fmt.Sprintf("kubernetes = { namespace = %q, endpoint = %q, ca_certificate = file(%q), bearer_token = %q }",
					namespace, env.lab.Endpoint, env.lab.CAFile, token)
			}
			return with(env.lab.AdminToken), with(env.lab.StoreToken(t, namespace, "vnf-planner"))
		},
		"postgres": func(t *testing.T, _ *testEnv) (full, reading string) {
			t.Helper()
			conn := pgtest.Start(t).ConnStr("postgres")
			return fmt.Sprintf("postgres = { conn_str = %q }", conn), fmt.Sprintf("postgres = { conn_str = %q }", conn+" options='-c default_transaction_read_only=on'")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			full, reading := store(t, env)
			provider := func(store string) string { return fmt.Sprintf("provider \"vnf\" {\n  store = { %s }\n}\n", store) }
			configure := func(m *module, arguments ...string) {
				m.write(provider(full), env.vims(), pkg(acctest.ExamplePackage(t, "core5g")), env.instance("test", arguments...))
			}
			// It plans as others do, and has no error and at most one warning.
			planner := func(after *module, code int, more string, arguments ...string) string {
				m := after.next()
				m.setHome("/dev/null")
				m.write(provider(reading), env.vims(), pkg(acctest.ExamplePackage(t, "core5g")), env.instance("test", arguments...), more)
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
			second := first.next("plan")
			second.expectExit(0, "apply", "plan")
			id := second.resource(address).text("id")

			// Nobody has read VIM, package and instance since they were made.
			planner(second, 0, "")
			third := second.next()
			third.setHome("")
			third.expectExit(0, "plan", "-detailed-exitcode")
			configure(third, `description = "edge"`, `scale_levels = { "user-plane" = 1 }`)
			third.expectExit(0, "plan", "-out=plan")
			fourth := third.next("plan")
			fourth.setHome("/dev/null")
			fourth.expectExit(0, "apply", "plan")
			if got := fourth.resource(address); got.text("id") != id || got.text("description") != "edge" {
				t.Errorf("the instance is %v", got.values)
			}

			fifth := fourth.next()
			fifth.expectExit(0, "plan", "-detailed-exitcode")
			env.kubectl("delete", "service/amf")
			creation := strings.ReplaceAll(env.instance("another"), `"vnf_instance" "test"`, `"vnf_instance" "another"`)
			seen := planner(fifth, 2, creation, `description = "edge"`, `scale_levels = { "user-plane" = 1 }`)
			require.Contains(t, seen, "Plan: 1 to add, 1 to change, 0 to destroy")
			fifth.expectExit(0, "plan", "-destroy", "-out=plan")
			fifth.next("plan").expectExit(0, "apply", "plan")
			if left := env.uids(); len(left) > 0 {
				t.Errorf("after the destroy there are %v", left)
			}
		})
	}
}
