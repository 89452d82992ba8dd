package acctest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
)

func TestForgetRuns(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "cnf/.terraform/providers"), 0o700))
	kept := []string{"main.tf", "terraform.tfvars.example"}
	for _, name := range append([]string{".terraform/x", ".terraform.lock.hcl", "terraform.tfstate", "terraform.tfstate.backup", "terraform.tfvars"}, kept...) {
		require.NoError(t, os.WriteFile(filepath.Join(root, "cnf", name), nil, 0o600))
	}
	acctest.ForgetRuns(t, root)
	entries, err := os.ReadDir(filepath.Join(root, "cnf"))
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	assert.Equal(t, kept, names)
}
