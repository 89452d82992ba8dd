package provider_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEphemeralExamplesHaveNoConditions: Terraform 1.11 crashes in "show -json" when a plan has a condition of an ephemeral resource,
// and pipelines read plans like that.
func TestEphemeralExamplesHaveNoConditions(t *testing.T) {
	t.Parallel()
	blocks := 0
	for _, folder := range []string{"examples", "templates"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.Name() == ".terraform" {
				return fs.SkipDir // Somebody has run the example.
			}
			if entry.IsDir() {
				return nil
			}
			text, err := os.ReadFile(path)
			inside := false
			for number, line := range strings.Split(string(text), "\n") {
				switch trimmed := strings.TrimSpace(line); {
				case strings.HasPrefix(line, `ephemeral "`):
					inside = true
					blocks++
				case line == "}":
					inside = false
				case inside && (strings.HasPrefix(trimmed, "precondition") || strings.HasPrefix(trimmed, "postcondition")):
					t.Errorf("%s:%d: a condition of an ephemeral resource", path, number+1)
				}
			}
			return err
		})
		require.NoError(t, err)
	}
	if blocks < 3 {
		t.Errorf("%d blocks", blocks)
	}
}
