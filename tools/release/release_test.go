package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestProvenance(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	dir := t.TempDir()
	list, path := filepath.Join(dir, "SHA256SUMS"), filepath.Join(dir, "statement")
	require.NoError(t, os.WriteFile(list, []byte(sum+"  a.zip\n"), 0o600))
	require.NoError(t, writeProvenance(list, path, build{version: "1.2.3", commit: "abc", ref: "v1.2.3"}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"gitCommit": "abc"`)
	assert.Contains(t, string(text), `@refs/tags/v1.2.3"`)
	assert.Contains(t, string(text), sum)

	workflow := map[string]string{
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "nfv-iac/terraform-provider-vnf", "GITHUB_RUN_ID": "7",
		"GITHUB_WORKFLOW_REF": "nfv-iac/terraform-provider-vnf/.github/workflows/release.yml@refs/tags/v1.2.3",
	}
	s := provenance(nil, build{version: "1.2.3", commit: "abc"}, func(name string) string { return workflow[name] })
	assert.Equal(t, "https://github.com/nfv-iac/terraform-provider-vnf/.github/workflows/release.yml@refs/tags/v1.2.3", s.Predicate.RunDetails.Builder.ID)
	assert.Equal(t, "https://github.com/nfv-iac/terraform-provider-vnf/actions/runs/7", s.Predicate.RunDetails.Metadata.InvocationID)
}

func TestSnapshotTargets(t *testing.T) {
	s := snapshot{targets: []string{"linux/amd64", "windows/arm64"}}
	path, err := s.configFor("../../.goreleaser.yml", t.TempDir())
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var config struct {
		Builds []struct {
			Goos    []string
			Targets []string
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	require.Len(t, config.Builds, 1)
	assert.Empty(t, config.Builds[0].Goos)
	assert.Equal(t, []string{"linux_amd64", "windows_arm64"}, config.Builds[0].Targets)
}

func TestBadInput(t *testing.T) {
	for _, tt := range []struct {
		args, want string
	}{
		{"", "usage: vnf-release snapshot | licences | provenance [flags]"},
		{"publish", `unknown command "publish"; usage: vnf-release snapshot | licences | provenance [flags]`},
		{"licences", "licences: the path of a bill of materials is needed"},
		{"provenance", "provenance: -checksums, -o, -commit and -version are needed"},
		{
			"snapshot -root ../.. -targets plan9/amd64",
			`no release is built for "plan9/amd64"; the platforms are darwin/amd64, darwin/arm64, freebsd/amd64, freebsd/arm64, linux/amd64, linux/arm64, windows/amd64, windows/arm64`,
		},
		{"provenance -checksums main.go -o /nowhere -commit a -version b", "main.go: line 1 is no SHA-256 checksum with a name"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			var out bytes.Buffer
			require.ErrorContains(t, run(t.Context(), strings.Fields(tt.args), &out, &out), tt.want)
		})
	}
}
