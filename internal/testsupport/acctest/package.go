package acctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/hottest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// ExamplePackage returns the path of a package under examples/packages.
func ExamplePackage(t testing.TB, name string) string {
	t.Helper()
	return filepath.Join(labtest.Root(t), "examples", "packages", name)
}

// CopyPackage returns a copy of an example package that the test may change.
func CopyPackage(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.CopyFS(dir, os.DirFS(ExamplePackage(t, name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Edit replaces text in a file of a package. It fails when the text is not there.
func Edit(t testing.TB, dir, file, from, to string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(file))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), from) {
		t.Fatalf("%s does not hold %q", file, from)
	}
	Write(t, dir, file, strings.ReplaceAll(string(data), from, to))
}

// Write writes a file of a package.
func Write(t testing.TB, dir, file, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil { //nolint:gosec // a path of the test
		t.Fatal(err)
	}
}

// UseForm replaces the templates of a deployment flavour of a package by those of another form.
func UseForm(t testing.TB, dir, flavour string, form hottest.Form, servers ...hottest.Server) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, "BaseHOT", flavour)); err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Glob(filepath.Join(dir, "*.mf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, manifest := range manifests {
		data, err := os.ReadFile(manifest) //nolint:gosec // a path of the test
		if err != nil {
			t.Fatal(err)
		}
		blocks := slices.DeleteFunc(strings.Split(string(data), "\n\n"), func(block string) bool {
			return strings.HasPrefix(block, "Source: BaseHOT/"+flavour+"/")
		})
		Write(t, dir, filepath.Base(manifest), strings.TrimSuffix(strings.Join(blocks, "\n\n"), "\n")+"\n")
	}
	for file, text := range hottest.Files(form, flavour, servers...) {
		Write(t, dir, file, text)
	}
}

// Hash writes the digests of all files into the manifest of a package.
func Hash(t testing.TB, dir string) {
	t.Helper()
	if _, _, err := csar.Hash(dir); err != nil {
		t.Fatal(err)
	}
}

// Zip packs a directory and returns the path of the archive.
func Zip(t testing.TB, dir string) string {
	t.Helper()
	archive, err := csar.OpenDirectory(dir, csar.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(dir)+".csar")
	f, err := os.Create(path) //nolint:gosec // a path of the test
	if err != nil {
		t.Fatal(err)
	}
	if err := csar.WriteZip(archive, f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// ManagementClusterPackage returns an example package of a management cluster, made whole
// with the manifests of Cluster API. Where that has not been built the test is skipped.
func ManagementClusterPackage(t testing.TB, name string) string {
	t.Helper()
	labtest.NeedsClusterAPI(t)
	dir := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(t.Context(), filepath.Join(labtest.Root(t), "scripts", "management-cluster-package"), dir, name) //nolint:gosec // a script of the repository
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("making the package: %v: %s", err, out)
	}
	return dir
}
