package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mirrorVersion is the version of the provider in the mirror.
const mirrorVersion = "0.1.0"

// place puts the provider under a path, as a program that any user may run.
func (b tools) place(t *testing.T, path string) {
	t.Helper()
	config, err := os.ReadFile(b.cliConfig)
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(config), `"nfv-iac/vnf" = "`)
	dir, _, found := strings.Cut(rest, `"`)
	require.True(t, found, "no override of the provider in %s", b.cliConfig)
	built := filepath.Join(dir, "terraform-provider-vnf")
	// A link, and not a symbolic one: other users may not reach the directory of the build.
	if err := os.Link(built, path); err != nil {
		data, err := os.ReadFile(built) //nolint:gosec // the provider under test
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o755)) //nolint:gosec // other users run the provider
	}
}

// mirrored returns the same programs, with the provider in a mirror of the file system: `terraform init` installs it from there.
func (b tools) mirrored(t *testing.T) tools {
	t.Helper()
	mirror := t.TempDir()
	target := filepath.Join(mirror, "registry.terraform.io/nfv-iac/vnf", mirrorVersion, runtime.GOOS+"_"+runtime.GOARCH)
	require.NoError(t, os.MkdirAll(target, 0o755)) //nolint:gosec // other users run the provider
	b.place(t, filepath.Join(target, "terraform-provider-vnf_v"+mirrorVersion))
	b.cliConfig = filepath.Join(mirror, "terraform.rc")
	text := fmt.Sprintf("disable_checkpoint = true\n\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	require.NoError(t, os.WriteFile(b.cliConfig, []byte(text), 0o644)) //nolint:gosec // other users read it
	return b
}
