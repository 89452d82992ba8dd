//go:build unix && terragrunt

package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/otlptest"
)

// terragruntVariable names the program of Terragrunt.
const terragruntVariable = "TERRAGRUNT"

// TestAccTerragrunt_program runs the example for Terragrunt with Terragrunt itself, which accepts its files. The spans of Terragrunt and
// of the provider are one trace per run: the provider's are below the run of Terraform, or with a TRACEPARENT below that of the pipeline.
// It has a build tag, since Terragrunt takes minutes to build: make test-terragrunt builds and runs it.
func TestAccTerragrunt_program(t *testing.T) {
	t.Parallel()
	program := os.Getenv(terragruntVariable)
	require.NotEmpty(t, program, "%s names no program: run make test-terragrunt", terragruntVariable)
	_, built := requirements(t)
	lab := labtest.ClusterAPI(t)
	clusters := lab.ClusterNamespace(t)
	collector := otlptest.New(t)
	m := newModule(t, built.mirrored(t))
	m.dir = copyTerragrunt(t)
	m.env = append(m.env, "TG_TF_PATH="+built.terraform, "TG_NON_INTERACTIVE=true", "TG_NO_COLOR=true",
		"TG_TELEMETRY_TRACE_EXPORTER=otlpHttp", "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	for name, value := range terragruntEnvironment(t, lab, clusters) {
		m.env = append(m.env, name+"="+value)
	}
	run := func(command string, environment ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), runLimit)
		defer cancel()
		cmd := exec.CommandContext(ctx, program, "stack", "run", command) //nolint:gosec // Terragrunt itself
		cmd.Dir, cmd.Env = m.dir, slices.Concat(m.env, environment)
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "terragrunt stack run %s: %s", command, output)
		return string(output)
	}
	run("plan")
	run("apply")
	if got := strings.Count(run("plan"), "No changes."); got != 7 {
		t.Errorf("the second plan of %d units is empty, want 7", got)
	}
	expectTerragruntSites(t, lab, clusters)
	if got := collector.Traces(); len(got) != 3 {
		t.Errorf("three runs are %d traces", len(got))
	}
	const parent = "00f067aa0ba902b7"
	run("destroy", "TRACEPARENT=00-4bf92f3577b34da6a3ce929d0e0e4736-"+parent+"-01")
	services := collector.Services()
	slices.Sort(services)
	if !slices.Equal(services, []string{"terraform-provider-vnf", "terragrunt"}) {
		t.Errorf("spans come from %v", services)
	}
	below := map[string]string{"INSTANTIATE": "run_" + built.terraform, "TERMINATE": "^" + parent}
	found := map[string]int{}
	for _, s := range collector.Spans() {
		if want, ok := below[s.GetName()]; ok {
			found[s.GetName()]++
			if path := collector.Path(s); !slices.Contains(path, want) {
				t.Errorf("%s is at %v, which is not below %s", s.GetName(), path, want)
			}
		}
	}
	if found["INSTANTIATE"] == 0 || found["TERMINATE"] == 0 {
		t.Errorf("spans of operations: %v", found)
	}
	if left := lab.Kubectl(t, "get", "clusters.cluster.x-k8s.io", "-n", clusters, "-o", "name", "--ignore-not-found"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}
