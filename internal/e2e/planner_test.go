//go:build unix

package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// TestAccPlanner: the job of a pull request may only read the store and the VIM, with exactly the rights of the examples. It makes each
// plan, and what it cannot check is one warning. Its credentials write nothing.
func TestAccPlanner(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.useRemote(t, "kubernetes")
	// The rights are those on one namespace, and another instance there has objects of its own.
	second := acctest.CopyPackage(t, "hello")
	for _, file := range []string{"Files/kubernetes/web.yaml", "hello.yaml"} {
		acctest.Edit(t, second, file, "web", "edge")
	}
	acctest.Hash(t, second)
	parts := func(store, token string, arguments ...string) []string {
		return []string{
			fmt.Sprintf("provider \"vnf\" {\n  store = { %s }\n  vims = { test = { kubernetes = { endpoint = %q, ca_certificate = file(%q), bearer_token = %q } } }\n}\n",
				store, env.way.endpoint, env.way.caFile, token),
			"resource \"vnf_vim\" \"test\" {\n  name = \"test\"\n}\n", pkg(acctest.ExamplePackage(t, "hello")), strings.ReplaceAll(pkg(second), `"test"`, `"another"`), env.instance("test", arguments...),
		}
	}
	env.write(parts(env.remote.full, env.lab.AdminToken)...)
	env.apply()
	token := env.lab.VIMToken(t, env.namespace, "kubernetes-plan.yaml", "vnf-planner")
	creation := strings.NewReplacer(`"vnf_instance" "test"`, `"vnf_instance" "another"`, "vnf_package.test", "vnf_package.another").Replace(env.instance("another"))
	plan := func(code, warnings int, more string, arguments ...string) string {
		t.Helper()
		m := env.next()
		m.write(append(parts(env.remote.reading, token, arguments...), more)...)
		out := m.expectExit(code, "plan", "-detailed-exitcode").output
		// Terraform itself has one of the provider that was just built.
		require.Equal(t, warnings, strings.Count(out, "Warning: ")-strings.Count(out, "Warning: Provider development overrides"), out)
		require.Equal(t, warnings, strings.Count(out, tfutil.UncheckedSummary), out)
		require.NotContains(t, out, "similar warning")
		return out
	}

	plan(0, 0, "")
	out := plan(2, 1, creation, `description = "edge"`, `scale_levels = { web = 1 }`)
	require.Contains(t, out, "Plan: 1 to add, 1 to change, 0 to destroy")
	env.kubectl("delete", "service/web")
	require.Contains(t, plan(2, 1, ""), "Plan: 0 to add, 1 to change, 0 to destroy")

	// Records that are missing are there for the run alone.
	for _, r := range env.list("") {
		require.NoError(t, env.records.Delete(t.Context(), r.Kind, r.ID))
	}
	require.Contains(t, plan(2, 1, creation), "Plan: 1 to add, 1 to change, 0 to destroy")
	require.Empty(t, env.list(""))

	// An apply fails before it changes anything.
	m := env.next()
	m.write(parts(env.remote.reading, token, `description = "edge"`)...)
	m.expectExit(1, "apply", "-auto-approve")
	require.Empty(t, env.list(""))
	require.NotContains(t, env.kubectl("get", "services", "-o", "name"), "web")
}
