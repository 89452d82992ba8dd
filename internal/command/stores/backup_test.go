package stores

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/command/cli"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

func TestBackup(t *testing.T) {
	without(t)
	path, dir := newStore(t), t.TempDir()
	file, to := filepath.Join(dir, "backup.zip"), filepath.Join(dir, "store.db")
	run(t, "store", "backup", path, "--file", file).want(t, 0, "5 records and 3 contents")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the backup: %v, %v, want mode 0600", info, err)
	}
	run(t, "store", "backup", path, "--file", file).want(t, cli.ExitUsage, file+" exists")

	restore := func(file string) answer { return run(t, "store", "restore", to, "--file", file) }
	restore(file).want(t, 0, "5 records and 3 contents", "copied and verified")
	wantAlike(t, openLocalStore(t, path), openLocalStore(t, to))
	restore(file).want(t, 0, "5 records and 3 contents were there already")
	require.NoError(t, openLocalStore(t, to).Create(t.Context(), &store.Record{Kind: store.KindVIM, ID: "other"}))
	restore(file).want(t, cli.ExitUsage, `is not empty: vim "other"`, "nothing was written")
}

// TestBackupIsDamaged reads backups that are not as they were written. Nothing is restored of
// them.
func TestBackupIsDamaged(t *testing.T) {
	without(t)
	dir, from := t.TempDir(), newStore(t)
	whole := filepath.Join(dir, "backup.zip")
	run(t, "store", "backup", from, "--file", whole).want(t, 0)
	text, err := os.ReadFile(whole)
	require.NoError(t, err)
	file := filepath.Join(dir, "damaged.zip")
	// A bit here and there, and some ends.
	for at := 0; at < len(text); at += max(len(text)/15, 1) {
		flipped := slices.Clone(text)
		flipped[at] ^= 1
		for name, damaged := range map[string][]byte{"flipped": flipped, "cut off": text[:at]} {
			require.NoError(t, os.WriteFile(file, damaged, 0o600))
			to := filepath.Join(dir, fmt.Sprint(name, at), "store.db")
			a := run(t, "store", "restore", to, "--file", file)
			if a.code == 0 && name == "flipped" {
				// Some bits of the format say nothing of what is in it.
				wantAlike(t, openLocalStore(t, from), openLocalStore(t, to))
				continue
			}
			a.want(t, cli.ExitUsage, file)
			_, err = os.Stat(to)
			require.Error(t, err, "%s at %d: something was restored", name, at)
		}
	}
}
