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
	_ "modernc.org/sqlite" // The database of the store is looked at, and given a format of the future.

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/acctest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestAccTwoReleases has the last provider before format 2 of the store, as it was built
// then, make an instance. The present one migrates the store and finds nothing to do; the
// former one is refused then, and goes on with the backup. A store of a later format
// refuses the present one.
//
// What is not promised: a process of the former release that had the store open when it
// was migrated did not look for the format again, and may have written a record since.
func TestAccTwoReleases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	present := w.tools
	former := w.former(filepath.Join("testdata", "format-1.commit"))
	config := func(s acctest.Store) {
		w.write(s.Provider(), w.vims(), pkg(acctest.ExamplePackage(t, "hello")), w.instance("test"))
	}
	config(w.store)
	w.use(former)
	w.apply()
	w.settled()
	objects := w.uids()
	if format, _ := w.format(); format != 1 {
		t.Fatalf("the former provider writes format %d", format)
	}

	w.use(present)
	w.settled()
	format, release := w.format()
	if format < 2 || release == "" {
		t.Errorf("format %d of release %q after the present provider has planned", format, release)
	}
	w.exact()
	w.contentsAreReadable()
	records := w.dump()

	// The former provider says that the store is of a newer release, and changes nothing.
	w.use(former)
	for _, command := range [][]string{{"plan"}, {"apply", "-auto-approve"}, {"destroy", "-auto-approve"}} {
		w.says(w.must(1, command...), w.store.Path, "written by a newer release of the provider")
	}
	if diff := gocmp.Diff(records, w.dump()); diff != "" {
		t.Errorf("records before (-) and after (+) the former provider was refused:\n%s", diff)
	}

	// Nothing is lost to who goes back: the backup is a store of the former provider.
	back := acctest.NewStore(t)
	for from, to := range map[string]string{w.store.Path + ".format-1.backup": back.Path, w.store.KeyFile: back.KeyFile} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(filepath.Dir(back.Path), "blobs"), os.DirFS(filepath.Join(filepath.Dir(w.store.Path), "blobs"))); err != nil {
		t.Fatal(err)
	}
	config(back)
	w.settled()
	config(w.store)

	w.use(present)
	w.setFormat(99, "9.9.9")
	w.says(w.must(1, "plan"), w.store.Path, "format 99 was written by a newer release of the provider (9.9.9)", "use that release")
	w.says(w.must(1, "destroy", "-auto-approve"), "(9.9.9)")
	w.setFormat(format, release)
	if diff := gocmp.Diff(records, w.dump()); diff != "" {
		t.Errorf("records before (-) and after (+) the present provider was refused:\n%s", diff)
	}
	w.settled()
	if diff := gocmp.Diff(objects, w.uids()); diff != "" {
		t.Errorf("UIDs of objects before (-) and after (+) the releases:\n%s", diff)
	}
	w.destroy()
	w.destroyed()
}

// former builds the provider of the commit that a file names, as it was then.
func (w *world) former(file string) tools {
	w.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a file of the tests
	if err != nil {
		w.Fatal(err)
	}
	commit := strings.TrimSpace(string(text))
	root := labtest.Root(w)
	if out, err := command(w.Context(), root, "git", "cat-file", "-e", commit+"^{commit}"); err != nil {
		// Nothing that can be installed brings it.
		w.Skipf("the history of the repository does not have commit %s, the last of format 1 (a shallow clone? git fetch --unshallow): %v %s", commit, err, out)
	}
	tree, dir := w.TempDir(), w.TempDir()
	archive := filepath.Join(w.TempDir(), "tree.tar")
	for _, step := range [][]string{
		{root, "git", "archive", "--output", archive, commit, "go.mod", "go.sum", "main.go", "internal"},
		{tree, "tar", "-xf", archive, "--exclude=internal/lab"},
		{tree, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version=0.0.0-former", "-o", filepath.Join(dir, "terraform-provider-vnf"), "."},
	} {
		if out, err := command(w.Context(), step[0], step[1:]...); err != nil {
			w.Fatalf("the provider of commit %s: %v: %v\n%s", commit, step[1:], err, out)
		}
	}
	built := tools{terraform: w.tools.terraform, cliConfig: filepath.Join(dir, "terraform.rc")}
	if err := built.configure(dir); err != nil {
		w.Fatal(err)
	}
	return built
}

func command(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // programs that the test names
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	return string(bytes.TrimSpace(out)), err
}

// contentsAreReadable opens each file of each package in the store.
func (w *world) contentsAreReadable() {
	w.Helper()
	p, err := w.store.Manager(w).Package(w.Context(), w.resource("vnf_package.test").text("id"))
	if err != nil {
		w.Fatal(err)
	}
	for _, f := range p.Files {
		if data, err := fs.ReadFile(p.Content, f.Path); err != nil || store.Digest(data) != f.Digest {
			w.Errorf("%s of the package: %d bytes, %v", f.Path, len(data), err)
		}
	}
}

// dump is all records of the store.
func (w *world) dump() []string {
	w.Helper()
	var out []string
	for _, r := range w.list("") {
		// A dry run notes when it was.
		if r.Kind != store.KindDryRun {
			out = append(out, fmt.Sprintf("%s %s %s %d %s", r.Kind, r.ID, r.Key, r.Revision, r.Data))
		}
	}
	slices.Sort(out)
	return out
}

func (w *world) database() *sql.DB {
	w.Helper()
	db, err := sql.Open("sqlite", w.store.Path)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := db.Close(); err != nil {
			w.Error(err)
		}
	})
	return db
}

// format is the format of the store, and the release that has brought it there; format 1
// has none.
func (w *world) format() (format int, release string) {
	w.Helper()
	db := w.database()
	err := db.QueryRowContext(w.Context(), "SELECT version FROM schema_version").Scan(&format)
	if err == nil && format > 1 {
		err = db.QueryRowContext(w.Context(), "SELECT release FROM schema_version").Scan(&release)
	}
	if err != nil {
		w.Fatal(err)
	}
	return format, release
}

func (w *world) setFormat(format int, release string) {
	w.Helper()
	if _, err := w.database().ExecContext(w.Context(), "UPDATE schema_version SET version = ?, release = ?", format, release); err != nil {
		w.Fatal(err)
	}
}
