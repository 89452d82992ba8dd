package forms

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestCorpusIsThatOfHelm: files of values give the objects that Helm's own command gives, of the embedded chart and of one of the shape of
// openstack-cluster.
func TestCorpusIsThatOfHelm(t *testing.T) {
	binary := filepath.Join(labtest.Root(t), "bin", "helm")
	if _, err := os.Stat(binary); err != nil {
		labtest.Missing(t, "helm: run make bin/helm")
	}
	for chart, source := range map[string]vnfm.ChartSource{"openstack": {Name: "openstack"}, "outside": {Path: "testdata/outside"}} {
		path := cmp.Or(source.Path, "charts/"+chart)
		files, err := filepath.Glob(filepath.Join("testdata", "values", chart, "*.yaml"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			t.Run(chart+" "+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				cmd := exec.CommandContext(t.Context(), binary, "template", "edge", path, "--namespace", "core", "--values", file)
				cmd.Env = []string{"HOME=" + t.TempDir()}
				out, err := cmd.Output()
				require.NoError(t, err)
				want, err := Decode(string(out))
				require.NoError(t, err)

				text, err := os.ReadFile(file)
				require.NoError(t, err)
				values, err := helm.ReadValues(string(text))
				require.NoError(t, err)
				var ps vnfm.Problems
				got, _ := Render(&vnfm.ClusterSpec{Name: "edge", Namespace: "core", APIVersion: "v1beta2", Chart: &vnfm.ClusterChart{ChartSource: source, Values: values}}, &ps)
				require.Equal(t, exponents[chart+" "+filepath.Base(file)], wordsOf(ps))
				for _, objects := range [][]map[string]any{want, got} {
					slices.SortFunc(objects, func(a, b map[string]any) int { return strings.Compare(identity(a), identity(b)) })
				}
				assert.Empty(t, gocmp.Diff(want, got))
			})
		}
	}
}

// exponents are the warnings of numbers that the templates write as Helm does.
var exponents = map[string][]string{"outside autoscaled.yaml": {
	`the number nodeGroups.1.machineCountMax is written with an exponent in outside/templates/node-groups.yaml: the template makes 1e+06 of it; write "1000000"`,
	`the number nodeGroups.2.nodeLabels.big is written with an exponent in outside/templates/node-groups.yaml: the template makes 1.00065e+09 of it; write "1000650000"`,
}}

func wordsOf(ps vnfm.Problems) []string {
	var out []string
	for _, p := range ps {
		out = append(out, p.String())
	}
	return out
}

func identity(o map[string]any) string {
	return StringAt(o, "kind") + " " + StringAt(o, "metadata", "name")
}
