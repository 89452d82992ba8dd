//go:build unix

package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// terragruntUnit is a unit of a generated stack and the module that runs for it.
type terragruntUnit struct {
	*module
	// unitDir is the directory of terragrunt.hcl; the directory of the module is a copy of the unit's source.
	unitDir string
	file    *terragruntFile
	needs   []*terragruntUnit
	// outputs are those of the state, nil as long as nothing is applied.
	outputs map[string]cty.Value
	// level is the length of the longest way to a unit that needs no other.
	level int
}

// terragruntRun is all units of a stack, in the order of their dependencies.
type terragruntRun struct {
	testing.TB
	units []*terragruntUnit
}

// copyTerragrunt copies the example with the package beside it, and returns the folder of its stack.
func copyTerragrunt(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{"terragrunt", "packages/hello"} {
		require.NoError(t, os.CopyFS(filepath.Join(root, name), os.DirFS(filepath.Join(labtest.Root(t), "examples", name))))
	}
	acctest.ForgetRuns(t, root)
	return filepath.Join(root, "terragrunt/live")
}

// terragruntEnvironment has the example make its clusters in a namespace of a management cluster, which is the cluster of the south too.
func terragruntEnvironment(t *testing.T, lab labtest.Env, clusters string) map[string]string {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte(lab.AdminToken), 0o600))
	return map[string]string{
		"VNF_KUBECONFIG": lab.Kubeconfig, "VNF_STORE_NAMESPACE": lab.Namespace(t), "VNF_STATE_NAMESPACE": lab.Namespace(t),
		"VNF_CLUSTER_NAMESPACE":   clusters,
		"VNF_MANAGEMENT_ENDPOINT": lab.Endpoint, "VNF_MANAGEMENT_CA_FILE": lab.CAFile, "VNF_MANAGEMENT_TOKEN_FILE": token,
		"VNF_SOUTH_ENDPOINT": lab.Endpoint, "VNF_SOUTH_CA_FILE": lab.CAFile, "VNF_SOUTH_TOKEN_FILE": token,
	}
}

// newTerragruntRun copies the example, generates its stack and prepares all units.
func newTerragruntRun(t *testing.T, built tools, environment map[string]string) *terragruntRun {
	t.Helper()
	dirs, err := generateStack(copyTerragrunt(t), environment)
	require.NoError(t, err)
	byDir := map[string]*terragruntUnit{}
	for _, dir := range dirs {
		f, err := openTerragrunt(filepath.Join(dir, "terragrunt.hcl"), dir, unitSchema, environment)
		require.NoError(t, err)
		byDir[dir] = &terragruntUnit{module: newModule(t, built), unitDir: dir, file: f}
		byDir[dir].prepare(environment)
	}
	run := &terragruntRun{TB: t}
	var add func(u *terragruntUnit)
	add = func(u *terragruntUnit) {
		if slices.Contains(run.units, u) {
			return
		}
		for _, block := range u.file.content.Blocks.OfType("dependency") {
			b, err := u.file.block(block)
			require.NoError(t, err)
			needed := byDir[filepath.Join(u.unitDir, b["config_path"].AsString())]
			require.NotNil(t, needed, "%s depends on %s", u.unitDir, b["config_path"].AsString())
			add(needed)
			u.needs, u.level = append(u.needs, needed), max(u.level, needed.level+1)
		}
		run.units = append(run.units, u)
	}
	for _, dir := range dirs {
		add(byDir[dir])
	}
	return run
}

// prepare copies the source of the unit and writes what the included file generates.
func (u *terragruntUnit) prepare(environment map[string]string) {
	u.Helper()
	source, err := u.file.one("terraform")
	require.NoError(u, err)
	// The part before the double slash is copied whole.
	whole, part, found := strings.Cut(source["source"].AsString(), "//")
	require.True(u, found, "the source of %s has no double slash", u.unitDir)
	require.NoError(u, os.CopyFS(u.dir, os.DirFS(whole)))
	u.dir = filepath.Join(u.dir, part)

	include, err := u.file.one("include")
	require.NoError(u, err)
	root, err := openTerragrunt(include["path"].AsString(), u.unitDir, rootSchema, environment)
	require.NoError(u, err)
	provider, err := root.one("generate")
	require.NoError(u, err)
	require.NoError(u, os.WriteFile(filepath.Join(u.dir, provider["path"].AsString()), []byte(provider["contents"].AsString()), 0o600))
	state, err := root.one("remote_state")
	require.NoError(u, err)
	file := hclwrite.NewEmptyFile()
	backend := file.Body().AppendNewBlock("terraform", nil).Body().AppendNewBlock("backend", []string{state["backend"].AsString()})
	for name, value := range state["config"].AsValueMap() {
		backend.Body().SetAttributeValue(name, value)
	}
	require.NoError(u, os.WriteFile(filepath.Join(u.dir, state["generate"].GetAttr("path").AsString()), file.Bytes(), 0o600))
}

// inputs evaluates the inputs for a command of Terraform: with the outputs of the units that it needs, or with their mocks as long as
// there are none, where the command may have them.
func (u *terragruntUnit) inputs(command string) []string {
	u.Helper()
	dependencies := map[string]cty.Value{}
	for i, block := range u.file.content.Blocks.OfType("dependency") {
		b, err := u.file.block(block)
		require.NoError(u, err)
		outputs := cty.ObjectVal(u.needs[i].outputs)
		if u.needs[i].outputs == nil {
			allowed := false
			for _, v := range b["mock_outputs_allowed_terraform_commands"].AsValueSlice() {
				allowed = allowed || v.AsString() == command
			}
			require.True(u, allowed, "%s has no outputs, and %s of %s needs them", u.needs[i].unitDir, command, u.unitDir)
			outputs = b["mock_outputs"]
		}
		dependencies[block.Labels[0]] = cty.ObjectVal(map[string]cty.Value{"outputs": outputs})
	}
	u.file.ctx.Variables["dependency"] = cty.ObjectVal(dependencies)
	values, diags := u.file.content.Attributes["inputs"].Expr.Value(u.file.ctx)
	require.False(u, diags.HasErrors(), "%v", diags)
	var out []string
	for name, value := range values.AsValueMap() {
		text := ""
		if value.Type() == cty.String {
			text = value.AsString()
		} else {
			data, err := ctyjson.Marshal(value, value.Type())
			require.NoError(u, err)
			text = string(data)
		}
		out = append(out, "TF_VAR_"+name+"="+text)
	}
	return out
}

// all runs a command in all units, those of one level at a time, and hands each result to done.
func (run *terragruntRun) all(reverse bool, done func(u *terragruntUnit, r result), args ...string) {
	run.Helper()
	deepest := 0
	for _, u := range run.units {
		deepest = max(deepest, u.level)
	}
	for i := range deepest + 1 {
		level := i
		if reverse {
			level = deepest - i
		}
		started := map[*terragruntUnit]*running{}
		for _, u := range run.units {
			if u.level == level {
				own := u.env
				u.env = append(slices.Clone(own), u.inputs(args[0])...)
				started[u] = u.start(args...)
				u.env = own
			}
		}
		for u, r := range started {
			got := r.wait()
			if got.code != 0 {
				run.Fatalf("%s: terraform %v: exit code %d\n%s", u.unitDir, args, got.code, got.output)
			}
			if done != nil {
				done(u, got)
			}
		}
	}
}

// TestAccTerragrunt runs the example for Terragrunt without Terragrunt: its files are read with the language's own library, and what
// they say is done with each unit. A plan of all units comes before anything exists.
func TestAccTerragrunt(t *testing.T) {
	t.Parallel()
	_, built := requirements(t)
	lab := labtest.ClusterAPI(t)
	mirrored := built.mirrored(t)
	clusters := lab.ClusterNamespace(t)
	run := newTerragruntRun(t, mirrored, terragruntEnvironment(t, lab, clusters))
	require.Len(t, run.units, 7)
	initialize := map[*terragruntUnit]*running{}
	for _, u := range run.units {
		initialize[u] = u.start("init", "-input=false")
	}
	for u, r := range initialize {
		got := r.wait()
		require.Zero(t, got.code, "%s: %s", u.unitDir, got.output)
		// Without the digest of the provider in each run.
		u.useProvider(built)
	}
	run.all(false, nil, "plan")
	run.all(false, func(u *terragruntUnit, _ result) {
		u.outputs = u.readOutputs()
	}, "apply", "-auto-approve")
	run.all(false, nil, "plan", "-detailed-exitcode")
	expectTerragruntSites(t, lab, clusters)
	run.all(true, nil, "destroy", "-auto-approve")
	if left := lab.Kubectl(t, "get", "clusters.cluster.x-k8s.io", "-n", clusters, "-o", "name", "--ignore-not-found"); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// expectTerragruntSites looks at what runs on both sites.
func expectTerragruntSites(t *testing.T, lab labtest.Env, clusters string) {
	t.Helper()
	if got := strings.Fields(lab.Kubectl(t, "get", "deployments", "-n", "hello-south", "-o", "jsonpath={.items[*].spec.replicas}")); !slices.Equal(got, []string{"2"}) {
		t.Errorf("the replicas in the south are %v", got)
	}
	if got := lab.WorkloadKubectl(t, clusters, "north", "get", "deployments", "-n", "hello-north", "-o", "name"); !strings.Contains(got, "/web") {
		t.Errorf("on the workload cluster of the north are %q", got)
	}
}

// readOutputs reads the outputs of an applied unit.
func (u *terragruntUnit) readOutputs() map[string]cty.Value {
	u.Helper()
	var found map[string]struct {
		Value ctyjson.SimpleJSONValue `json:"value"`
	}
	shown := u.expectExit(0, "output", "-json")
	require.NoError(u, json.Unmarshal([]byte(shown.output[max(0, strings.Index(shown.output, "{")):]), &found))
	out := map[string]cty.Value{}
	for name, o := range found {
		out[name] = o.Value.Value
	}
	return out
}
