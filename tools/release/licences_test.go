package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLicences(t *testing.T) {
	const (
		mit   = `{"name": "example.org/a", "version": "v1.0.0", "evidence": {"licenses": [{"license": {"id": "MIT"}}]}}`
		gpl   = `{"name": "example.org/b", "version": "v1.2.0", "evidence": {"licenses": [{"license": {"id": "GPL-3.0-only"}}]}}`
		none  = `{"name": "example.org/c", "version": "v2.0.0"}`
		known = `{"name": "github.com/opencontainers/go-digest", "version": "v1.0.0", "evidence": {"licenses": [{"license": {"id": "CC-BY-SA-4.0"}}]}}`
		newer = `{"name": "github.com/opencontainers/go-digest", "version": "v1.1.0", "evidence": {"licenses": [{"license": {"id": "CC-BY-SA-4.0"}}]}}`
	)
	for name, tt := range map[string]struct {
		components string
		want       []string
	}{
		"allowed, or reviewed":   {components: mit + "," + known},
		"not allowed":            {mit + "," + gpl, []string{"example.org/b v1.2.0 has the licence GPL-3.0-only, which is not allowed"}},
		"not detected":           {none, []string{"no licence of example.org/c v2.0.0 was detected"}},
		"all problems":           {gpl + "," + none, []string{"example.org/b v1.2.0", "example.org/c v2.0.0"}},
		"reviewed for a version": {newer, []string{"go-digest v1.1.0 has the licence CC-BY-SA-4.0"}},
		"a bill without modules": {"", []string{"is not a bill of materials of CycloneDX with components"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bill.cdx.json")
			require.NoError(t, os.WriteFile(path, []byte(`{"bomFormat": "CycloneDX", "components": [`+tt.components+`]}`), 0o600))
			var out bytes.Buffer
			err := run(t.Context(), []string{"licences", path}, &out, &out)
			if tt.want == nil {
				require.NoError(t, err)
				assert.Contains(t, out.String(), "2 modules: map[Apache-2.0:1 MIT:1]")
			}
			for _, problem := range tt.want {
				require.ErrorContains(t, err, problem)
			}
		})
	}
}
