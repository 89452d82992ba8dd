//go:build unix

package e2e_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // The database of the store is looked at, and given a format of the future.

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccTwoReleases has the last provider before format 2 of the store, as it was built
// then, make an instance. The present one migrates the store and finds nothing to do; the
// buildProviderOf one is refused then, and goes on with the backup. A store of a later format
// refuses the present one.
//
// There is no promise for a process of the former release that had the store open when it
// was migrated: it did not look for the format again, and may have written a record since.
func TestAccTwoReleases(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	present := env.tools
	former := env.buildProviderOf(filepath.Join("testdata", "format-1.commit"))
	config := func(s acctest.Store) {
		env.write(s.Provider(), env.vims(), pkg(acctest.ExamplePackage(t, "hello")), env.instance("test", `on_failure = "resume"`))
	}
	config(env.store)
	env.useProvider(former)
	env.apply()
	env.expectEmptyPlan()
	objects := env.uids()
	if format, _ := env.format(); format != 1 {
		t.Fatalf("the former provider writes format %d", format)
	}

	env.useProvider(present)
	env.expectEmptyPlan()
	format, release := env.format()
	if format < 2 || release == "" {
		t.Errorf("format %d of release %q after the present provider has planned", format, release)
	}
	env.expectConsistent()
	env.contentsAreReadable()
	records := env.dump()

	// The former provider says that the store is of a newer release, and changes nothing.
	env.useProvider(former)
	for _, command := range [][]string{{"plan"}, {"apply", "-auto-approve"}, {"destroy", "-auto-approve"}} {
		env.expectOutput(env.expectExit(1, command...), env.store.Path, "written by a newer release of the provider")
	}
	if diff := gocmp.Diff(records, env.dump()); diff != "" {
		t.Errorf("records before (-) and after (+) the former provider was refused:\n%s", diff)
	}

	// Nothing is lost to who goes back: the backup is a store of the former provider.
	back := acctest.NewStore(t)
	for from, to := range map[string]string{env.store.Path + ".format-1.backup": back.Path, env.store.KeyFile: back.KeyFile} {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, data, 0o600))
	}
	require.NoError(t, os.CopyFS(filepath.Join(filepath.Dir(back.Path), "blobs"), os.DirFS(filepath.Join(filepath.Dir(env.store.Path), "blobs"))))
	config(back)
	env.expectEmptyPlan()
	config(env.store)

	env.useProvider(present)
	env.setFormat(99, "9.9.9")
	env.expectOutput(env.expectExit(1, "plan"), env.store.Path, "format 99 was written by a newer release of the provider (9.9.9)", "use that release")
	env.expectOutput(env.expectExit(1, "destroy", "-auto-approve"), "(9.9.9)")
	env.setFormat(format, release)
	if diff := gocmp.Diff(records, env.dump()); diff != "" {
		t.Errorf("records before (-) and after (+) the present provider was refused:\n%s", diff)
	}
	env.expectEmptyPlan()
	if diff := gocmp.Diff(objects, env.uids()); diff != "" {
		t.Errorf("UIDs of objects before (-) and after (+) the releases:\n%s", diff)
	}
	env.destroy()
	env.destroyed()
}

// buildProviderOf builds the provider of the commit that a file names, as it was then.
func (env *testEnv) buildProviderOf(file string) tools {
	env.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a file of the tests
	require.NoError(env, err)
	commit := strings.TrimSpace(string(text))
	root := labtest.Root(env)
	if out, err := command(env.Context(), root, "git", "cat-file", "-e", commit+"^{commit}"); err != nil {
		// Nothing that can be installed brings it.
		env.Skipf("the history of the repository does not have commit %s, the last of format 1 (a shallow clone? git fetch --unshallow): %v %s", commit, err, out)
	}
	tree, dir := env.TempDir(), env.TempDir()
	archive := filepath.Join(env.TempDir(), "tree.tar")
	for _, step := range [][]string{
		{root, "git", "archive", "--output", archive, commit, "go.mod", "go.sum", "main.go", "internal"},
		{tree, "tar", "-xf", archive, "--exclude=internal/lab"},
		{tree, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version=0.0.0-former", "-o", filepath.Join(dir, "terraform-provider-vnf"), "."},
	} {
		if out, err := command(env.Context(), step[0], step[1:]...); err != nil {
			env.Fatalf("the provider of commit %s: %v: %v\n%s", commit, step[1:], err, out)
		}
	}
	built := tools{terraform: env.tools.terraform, cliConfig: filepath.Join(dir, "terraform.rc")}
	require.NoError(env, built.configure(dir))
	return built
}

func command(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // programs that the test names
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	return string(bytes.TrimSpace(out)), err
}

// contentsAreReadable opens each file of each package in the store.
func (env *testEnv) contentsAreReadable() {
	env.Helper()
	p, err := env.store.Manager(env).Package(env.Context(), env.resource("vnf_package.test").text("id"))
	require.NoError(env, err)
	for _, f := range p.Files {
		if data, err := fs.ReadFile(p.Content, f.Path); err != nil || store.Digest(data) != f.Digest {
			env.Errorf("%s of the package: %d bytes, %v", f.Path, len(data), err)
		}
	}
}

// dump is all records of the store.
func (env *testEnv) dump() []string {
	env.Helper()
	var out []string
	for _, r := range env.list("") {
		// A dry run notes when it was.
		if r.Kind != store.KindDryRun {
			out = append(out, fmt.Sprintf("%s %s %s %d %s", r.Kind, r.ID, r.Key, r.Revision, r.Data))
		}
	}
	slices.Sort(out)
	return out
}

func (env *testEnv) database() *sql.DB {
	env.Helper()
	db, err := sql.Open("sqlite", env.store.Path)
	require.NoError(env, err)
	env.Cleanup(func() {
		if err := db.Close(); err != nil {
			env.Error(err)
		}
	})
	return db
}

// format is the format of the store, and the release that has brought it there; format 1
// has none.
func (env *testEnv) format() (format int, release string) {
	env.Helper()
	db := env.database()
	err := db.QueryRowContext(env.Context(), "SELECT version FROM schema_version").Scan(&format)
	if err == nil && format > 1 {
		err = db.QueryRowContext(env.Context(), "SELECT release FROM schema_version").Scan(&release)
	}
	require.NoError(env, err)
	return format, release
}

func (env *testEnv) setFormat(format int, release string) {
	env.Helper()
	if _, err := env.database().ExecContext(env.Context(), "UPDATE schema_version SET version = ?, release = ?", format, release); err != nil {
		env.Fatal(err)
	}
}
