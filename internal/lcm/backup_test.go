package lcm_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestBackupAndRestore does what the guide says of both, with its commands, and goes on with
// a store that is older than what was done since.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	home, keep := t.TempDir(), t.TempDir()
	dir := filepath.Join(home, "state", "terraform-provider-vnf")
	follow := func(script string) {
		t.Helper()
		path, err := filepath.Abs(filepath.Join("..", "..", "examples", "store", script))
		require.NoError(t, err)
		sh := exec.CommandContext(t.Context(), "sh", "-eu", path)
		sh.Dir, sh.Env = keep, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state")}
		if out, err := sh.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%s: %v %s", script, err, out)
		}
	}
	must := func(err error) {
		t.Helper()
		require.NoError(t, err)
	}
	w := newEnvAt(t, dir)
	named := func(name string) vnfm.InstanceSpec {
		spec := w.spec()
		spec.Name = name
		return spec
	}
	core, err := w.Instantiate(t.Context(), named("core"))
	must(err)
	ended, err := w.Instantiate(t.Context(), named("ended"))
	must(err)
	must(w.Close())
	follow("backup.sh")

	// A key in the archive would be with the store.
	list, err := exec.CommandContext(t.Context(), "tar", "-tf", filepath.Join(keep, "vnf-store.tar")).Output()
	must(err)
	require.NotContains(t, string(list), "key.txt", "the key is in the archive of the store")

	first := w.pkg
	w.pkg = w.onboard(t, "2.0")
	_, err = w.Update(t.Context(), core.ID, named("core"))
	must(err)
	late, err := w.Instantiate(t.Context(), named("late"))
	must(err)
	must(w.Terminate(t.Context(), ended.ID, vnfm.TerminateSpec{}))
	must(w.ReleasePackage(t.Context(), first.ID, ""))
	must(w.Close())
	follow("restore.sh")
	w.Engine = w.open(t)

	must(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
		return err
	}))
	_, err = w.CheckRegisteredVIM(t.Context(), w.vimID, 0)
	must(err)
	restored, err := w.Package(t.Context(), first.ID)
	must(err)
	for _, f := range restored.Files {
		_, err := fs.ReadFile(restored.Content, f.Path)
		must(err)
	}
	if i, err := w.Instance(t.Context(), core.ID); err != nil || i.PackageID != first.ID {
		t.Errorf("the instance of the backup: %+v, %v", i, err)
	}
	require.ErrorIs(t, second(w.Package(t.Context(), w.pkg.ID)), vnfm.ErrNotFound, "a package that came later")
	w.onboard(t, "2.0")
	for id, spec := range map[string]vnfm.InstanceSpec{core.ID: named("core"), late.ID: named("late")} {
		i, err := w.Update(t.Context(), id, spec)
		if err != nil || i.PackageID != w.pkg.ID || i.Status != vnfm.StatusInstantiated {
			t.Errorf("instance %s: %+v, %v", spec.Name, i, err)
		}
	}
	must(w.Terminate(t.Context(), ended.ID, vnfm.TerminateSpec{}))
	must(w.ReleasePackage(t.Context(), first.ID, ""))
}
