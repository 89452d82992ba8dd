package durable

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMkdirAll(t *testing.T) {
	base := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(base, "file"), nil, 0o600))
	for _, test := range []struct {
		dir    string
		synced []string
		fails  bool
	}{
		{"a/b", []string{".", "a"}, false},
		{"a/b", nil, false},
		{"a/c", []string{"a"}, false},
		{"file", nil, true},
		{"file/a", nil, true},
	} {
		var synced []string
		err := mkdirAll(filepath.Join(base, test.dir), 0o700, func(dir string) error {
			rel, err := filepath.Rel(base, dir)
			synced = append(synced, rel)
			return err
		})
		if (err != nil) != test.fails {
			t.Errorf("%s: %v", test.dir, err)
		}
		if !slices.Equal(synced, test.synced) {
			t.Errorf("%s: synced %q, want %q", test.dir, synced, test.synced)
		}
		if info, err := os.Stat(filepath.Join(base, test.dir)); !test.fails && (err != nil || info.Mode().Perm() != 0o700) {
			t.Errorf("%s: %v, %v", test.dir, info, err)
		}
	}
}
