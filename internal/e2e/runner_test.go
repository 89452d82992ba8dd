package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/pgtest"
)

// next returns a runner that follows another one: a directory, a HOME and a TMPDIR of its own, and nothing of the other one but the
// files that a pipeline hands over.
func (m *module) next(files ...string) *module {
	m.Helper()
	n := newModule(m.TB, m.tools)
	n.take(m.dir, append([]string{"main.tf", "terraform.tfstate"}, files...)...)
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

// TestAccRunners leads an instance through its life, each step on a new runner, with stores that outlive them: a plan that was made on
// one is applied on the next.
func TestAccRunners(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(t *testing.T, env *testEnv) string{
		"kubernetes": func(t *testing.T, env *testEnv) string {
			t.Helper()
			return fmt.Sprintf("kubernetes = { namespace = %q, endpoint = %q, ca_certificate = file(%q), bearer_token = %q }",
				env.lab.Namespace(t), env.lab.Endpoint, env.lab.CAFile, env.lab.AdminToken)
		},
		"postgres": func(t *testing.T, _ *testEnv) string {
			t.Helper()
			return fmt.Sprintf("postgres = { conn_str = %q }", pgtest.Start(t).ConnStr("postgres"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			provider := fmt.Sprintf("provider \"vnf\" {\n  store = { %s }\n}\n", store(t, env))
			configure := func(m *module, arguments ...string) {
				m.write(provider, env.vims(), pkg(acctest.ExamplePackage(t, "core5g")), env.instance("test", arguments...))
			}
			// The first plan travels too: nothing is there yet.
			first := env.module
			configure(first)
			first.expectExit(0, "plan", "-out=plan")
			if err := os.WriteFile(filepath.Join(first.dir, "terraform.tfstate"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			second := first.next("plan")
			second.expectExit(0, "apply", "plan")
			id := second.resource(address).text("id")

			third := second.next()
			third.expectExit(0, "plan", "-detailed-exitcode")
			configure(third, `description = "edge"`, `scale_levels = { "user-plane" = 1 }`)
			third.expectExit(0, "plan", "-out=plan")
			fourth := third.next("plan")
			fourth.expectExit(0, "apply", "plan")
			if got := fourth.resource(address); got.text("id") != id || got.text("description") != "edge" {
				t.Errorf("the instance is %v", got.values)
			}

			fifth := fourth.next()
			fifth.expectExit(0, "plan", "-detailed-exitcode")
			fifth.expectExit(0, "plan", "-destroy", "-out=plan")
			fifth.next("plan").expectExit(0, "apply", "plan")
			if left := env.uids(); len(left) > 0 {
				t.Errorf("after the destroy there are %v", left)
			}
		})
	}
}
