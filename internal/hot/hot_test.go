package hot

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

var update = flag.Bool("update", false, "write the golden files")

// router is a flavour with a VDU that can have several VNFCs and one that cannot.
func router() *vnfm.Flavour {
	return &vnfm.Flavour{
		ID: "simple",
		VDUs: []vnfm.VDU{
			{ID: "VDU1", Name: "front", MaxInstances: 3, CPUs: 2, MemoryBytes: 1 << 30, SWImages: []vnfm.SWImage{{Name: "cirros"}}},
			{ID: "VDU2", Name: "back", MaxInstances: 1, CPUs: 1, StorageIDs: []string{"disk"}},
		},
		Storages: []vnfm.Storage{{ID: "disk", PerVNFC: true, SWImages: []vnfm.SWImage{{Name: "system", Version: "1"}}}},
		ConnectionPoints: []vnfm.ConnectionPoint{
			{ID: "CP1", VDUID: "VDU1", External: true},
			{ID: "CP2", VDUID: "VDU2", VirtualLinkID: "inner"},
		},
		VirtualLinks: []vnfm.VirtualLink{{ID: "inner"}},
	}
}

// files makes a package of a text in which lines "-- name --" begin files.
func files(text string) *vnfm.Package {
	content := fstest.MapFS{}
	name := ""
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "-- "); ok {
			name = "BaseHOT/" + strings.TrimSuffix(strings.TrimSpace(rest), " --")
			content[name] = &fstest.MapFile{}
			continue
		}
		if name != "" {
			content[name].Data = append(content[name].Data, line...)
		}
	}
	return &vnfm.Package{Content: content}
}

func lines(ps vnfm.Problems) string {
	var b strings.Builder
	for _, p := range ps {
		if p.Severity == vnfm.SeverityWarning {
			b.WriteString("warning ")
		}
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

// golden compares a value with a file in testdata.
func golden(t *testing.T, name string, value any) {
	t.Helper()
	var b strings.Builder
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	require.NoError(t, enc.Encode(value))
	file := filepath.Join("testdata", name+".yaml")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String(), "%s", file)
}

// mustLoad loads what has no problem.
func mustLoad(t *testing.T, p *vnfm.Package, f *vnfm.Flavour) *Source {
	t.Helper()
	s, ps := Load(budget.New(t.Context(), budget.Limits{}), p, f)
	require.Empty(t, ps, "%s", lines(ps))
	return s
}
