//go:build unix

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// queryProgram names a program that can query, where the one under test cannot.
const queryProgram = "VNF_TEST_QUERY_PROGRAM"

// querying is a program that has list resources and actions: the one under test, or else the one that queryProgram names or that is in
// bin/. What it can do counts, and not its version.
func querying(t *testing.T, built tools) tools {
	t.Helper()
	can := func(program string) bool {
		return exec.CommandContext(t.Context(), program, "query", "-help").Run() == nil //nolint:gosec // a program under test
	}
	if can(built.terraform) {
		return built
	}
	if os.Getenv("VNF_TEST_CLI") != "" {
		t.Skip("the program under test has no query")
	}
	built.terraform = os.Getenv(queryProgram)
	if built.terraform == "" {
		built.terraform = filepath.Join(labtest.Root(t), "bin", "terraform-1.15")
	}
	if !can(built.terraform) {
		labtest.Missing(t, "no program with list resources: run make bin/terraform-1.15, or name one in "+queryProgram)
	}
	return built
}

// TestAccQuery leads an instance from one root module to another as somebody does who has only the store: what the store holds is
// listed, the generated configuration imports it by identity and changes nothing.
func TestAccQuery(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.tools = querying(t, env.tools)
	env.configure(acctest.ExamplePackage(t, "hello"), `scale_levels = { web = 2 }`, `additional_params = { "lcm-kubernetes-def-files" = ["Files/kubernetes/web.yaml"] }`)
	env.apply()

	other := newModule(t, env.tools)
	other.write(env.provider())
	lists := filepath.Join(other.dir, "lists.tfquery.hcl")
	list := func(kind, filter string) string {
		return fmt.Sprintf("list %q \"found\" {\n  provider = vnf\n  config {\n    %s\n  }\n}\n", kind, filter)
	}
	vim := env.resource("vnf_vim.test").text("id")
	require.NoError(t, os.WriteFile(lists, []byte(list("vnf_vim", `type = "kubernetes"`)+other.examples("list-resources")), 0o600))
	r := other.expectExit(0, "query", "-var=management_vim_id="+vim)
	env.expectOutput(r, "list.vnf_vim.found id="+vim+" test", "list.vnf_package.all name=test test")

	require.NoError(t, os.WriteFile(lists, []byte(list("vnf_package", `name = "test"`)+list("vnf_instance", fmt.Sprintf("namespace = %q", env.namespace))), 0o600))
	other.expectExit(0, "query", "-generate-config-out=generated.tf")
	env.expectOutput(other.expectExit(0, "apply", "-auto-approve"), "2 imported, 0 added, 0 changed, 0 destroyed")
	other.expectEmptyPlan()
	env.heals(other)

	// The first module forgets what the second one has.
	env.write(env.provider(), env.vims(), "removed {\n  from = "+address+"\n  lifecycle { destroy = false }\n}\n", "removed {\n  from = vnf_package.test\n  lifecycle { destroy = false }\n}\n")
	env.apply()
	other.destroy()
	env.destroy()
}

// examples are all examples in a folder, in which instances and clusters are the one that was imported.
func (m *module) examples(folder string) string {
	m.Helper()
	files, err := filepath.Glob(filepath.Join(labtest.Root(m), "examples", folder, "*", "*"))
	require.NoError(m, err)
	require.NotEmpty(m, files)
	var out strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(m, err)
		// One file has one block with settings of terraform.
		out.WriteString(strings.ReplaceAll(string(text), "terraform {\n  required_version = \">= 1.14\"\n}\n", ""))
	}
	return references.ReplaceAllString(out.String(), "vnf_instance.found_0.id")
}

var references = regexp.MustCompile(`vnf_(instance|capi_workload_cluster)\.\w+\.id`)

// heals has the actions of the examples replace VNFCs of the instance, which Terraform shows step by step and of which no plan is left.
func (env *testEnv) heals(m *module) {
	env.Helper()
	actions := m.examples("actions")
	write := func(vdu string) {
		text := strings.Replace(actions, `vdu_ids     = ["web"]`, fmt.Sprintf("vdu_ids = [%q]", vdu), 1)
		require.NoError(env, os.WriteFile(filepath.Join(m.dir, "actions.tf"), []byte(text), 0o600))
	}
	require.NoError(env, os.WriteFile(filepath.Join(m.dir, "tls.crt"), nil, 0o600))
	pods := func() string {
		return env.kubectl("get", "pods", "--selector", "app.kubernetes.io/name=web", "-o", "jsonpath={.items[*].metadata.uid}")
	}
	write("nothing")
	env.expectOutput(m.expectExit(1, "plan", "-invoke=action.vnf_heal.web"), `vdu_ids = ["nothing"]`, `has no VDU "nothing"`)
	before := pods()
	require.NotEmpty(env, before)
	write("web")
	env.expectOutput(m.expectExit(0, "apply", "-auto-approve"), "HEAL processing", "HEAL completed", "Action complete")
	require.NotEqual(env, before, pods())
	m.expectEmptyPlan()
}
