package provider_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExampleModules runs the tests that the modules of the examples bring, which have a mock for the provider.
func TestExampleModules(t *testing.T) {
	t.Parallel()
	c := newCLI(t)
	modules, err := filepath.Glob(filepath.Join(c.root, "modules", "*", "tests"))
	require.NoError(t, err)
	require.Len(t, modules, 3)
	for _, tests := range modules {
		module := "modules/" + filepath.Base(filepath.Dir(tests))
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			c.run(t, module, nil, "get")
			if out := c.run(t, module, nil, "test", "-no-color"); !strings.Contains(out, "Success!") || strings.Contains(out, "Success! 0 passed") {
				t.Errorf("terraform test says\n%s", out)
			}
		})
	}
	for _, file := range []string{"variables.tf", "outputs.tf", "versions.tf"} {
		for _, tests := range modules {
			if _, err := os.Stat(filepath.Join(filepath.Dir(tests), file)); err != nil {
				t.Error(err)
			}
		}
	}
}
