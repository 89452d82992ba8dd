package provider_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// onlyPlanned begins the sentence of an example's README that says why no test applies it.
const onlyPlanned = "Tests only plan this example"

// appliedBy names the tests that apply the complete examples.
var appliedBy = map[string]string{
	"capi/cluster":      "TestClusterExample",
	"capi/cnf":          "TestNetworkFunctionOnAClusterExample",
	"capo":              "TestRealNodesExample",
	"capo-octavia":      "TestRealNodesBalancers",
	"getting-started":   "TestGettingStartedExample",
	"mixed":             "TestAccInstance_hybrid",
	"operators":         "TestOperatorsExample",
	"private-registry":  "TestPrivateRegistryExample",
	"tacker/containers": "TestTackerExample",
	"vnf-openstack":     "TestOpenStackExample",
}

// TestCompleteExamples: each complete example is applied by a test that there is, or its README says why not.
func TestCompleteExamples(t *testing.T) {
	t.Parallel()
	tests := ""
	for _, folder := range []string{".", "../service/instance"} {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // a file of this package
			require.NoError(t, err)
			tests += string(text)
		}
	}
	root := os.DirFS(filepath.Join("..", "..", "examples", "complete"))
	found := 0
	for _, pattern := range []string{"*/main.tf", "*/*/main.tf"} {
		files, err := fs.Glob(root, pattern)
		require.NoError(t, err)
		for _, file := range files {
			example := path.Dir(file)
			readme, err := fs.ReadFile(root, path.Join(example, "README.md"))
			if err != nil {
				continue // a module of an example
			}
			found++
			test, says := appliedBy[example], strings.Contains(string(readme), onlyPlanned)
			switch {
			case test == "" && !says:
				t.Errorf("no test applies %s, and its README does not say why: %q …", example, onlyPlanned)
			case test != "" && says:
				t.Errorf("%s is applied by %s, and its README says otherwise", example, test)
			case test != "" && !strings.Contains(tests, "func "+test):
				t.Errorf("%s: there is no test %s", example, test)
			}
		}
	}
	if found < len(appliedBy) {
		t.Errorf("%d complete examples", found)
	}
}
