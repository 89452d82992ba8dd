//go:build unix

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
	putProgram(t, filepath.Join(dir, "terraform-provider-vnf"), path)
}

// mirrored returns the same programs, with the provider in a mirror of the file system: `terraform init` installs it from there.
func (b tools) mirrored(t *testing.T) tools {
	t.Helper()
	mirror := t.TempDir()
	// The source address of the configurations names no host: each program has a registry of its own.
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		b.place(t, filepath.Join(mirror, host, "nfv-iac/vnf", mirrorVersion, runtime.GOOS+"_"+runtime.GOARCH, "terraform-provider-vnf_v"+mirrorVersion))
	}
	b.cliConfig = filepath.Join(mirror, "terraform.rc")
	text := fmt.Sprintf("disable_checkpoint = true\n\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	require.NoError(t, os.WriteFile(b.cliConfig, []byte(text), 0o644)) //nolint:gosec // other users read it
	return b
}

// putProgram puts a program at a path where other users reach it: as a link, and not a symbolic one, or as a copy.
func putProgram(t *testing.T, program, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755)) //nolint:gosec // other users run it
	if err := os.Link(program, path); err != nil {
		data, err := os.ReadFile(program)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, data, 0o755)) //nolint:gosec // other users run it
	}
}

// searchPath returns a PATH on which "terraform" is the program under test, whatever its own name and directory are.
func (b tools) searchPath(t *testing.T) string {
	t.Helper()
	program, err := filepath.EvalSymlinks(b.terraform)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "bin")
	putProgram(t, program, filepath.Join(dir, "terraform"))
	return dir + string(filepath.ListSeparator) + os.Getenv("PATH")
}

// hasBackend reports whether the program has a backend with an argument: one that was built from the source that the Go module proxy
// serves lacks those that are modules of their own.
func (b tools) hasBackend(t *testing.T, name, argument string) bool {
	t.Helper()
	m := newModule(t, b)
	m.write(fmt.Sprintf("terraform {\n  backend %q {\n    %s = \"x\"\n  }\n}\n", name, argument))
	// Whether it can be reached does not matter.
	return !strings.Contains(m.run("init", "-input=false").text(), "Unsupported argument")
}
