package provider_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCompatibilityNamesWhatIsTested: the versions that the guide says were run are those that the tests are built with.
func TestCompatibilityNamesWhatIsTested(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	guide, err := os.ReadFile(filepath.Join(root, "templates/guides/compatibility.md"))
	require.NoError(t, err)
	for _, tt := range []struct{ file, pattern, row string }{
		{"internal/lab/go.mod", `k8s.io/kubernetes v(\S+)`, "| Kubernetes as a VIM | %:"},
		{"internal/lab/oldest/go.mod", `k8s.io/kubernetes v(\S+)`, "%: [tests of instances](#an-older-api-server)"},
		{"internal/lab/oldest/go.mod", `k8s.io/kubernetes v(\S+)`, "API server, controllers and scheduler of Kubernetes %:"},
		{"internal/lab/nodes/go.mod", `k8s.io/kubernetes v(\S+)`, "and % with real nodes"},
		{"internal/lab/nodes/previous/go.mod", `k8s.io/kubernetes v(\S+)`, "| Kubernetes of workload clusters | % and"},
		{"internal/lab/capi/go.mod", `(?m)^\tsigs.k8s.io/cluster-api v(\S+)$`, "| Cluster API | %:"},
		{"internal/lab/capi/go.mod", `cluster-api-provider-openstack v(\S+)`, "| Cluster API Provider OpenStack | % with"},
		{"internal/lab/capi/go.mod", `openstack-resource-controller/v2 v(\S+)`, "Resource Controller % |"},
		{"go.mod", `helm.sh/helm/v4 v(\S+)`, "| Helm | %:"},
		{"tools/cli/main.go", `version: "(1\.15\.\d+)"`, "tests. %: [a list]"},
		{"tools/cli/main.go", `version: "(1\.12\.\d+)"`, "| OpenTofu | %:"},
		{"tools/cli/main.go", `version: "(0\.\d+\.\d+)"`, "| Terragrunt | %:"},
	} {
		text, err := os.ReadFile(filepath.Join(root, tt.file))
		require.NoError(t, err)
		version := regexp.MustCompile(tt.pattern).FindStringSubmatch(string(text))
		if version == nil {
			t.Errorf("%s has no %s", tt.file, tt.pattern)
			continue
		}
		if row := strings.ReplaceAll(tt.row, "%", version[1]); !strings.Contains(string(guide), row) {
			t.Errorf("the guide does not say %q, which %s has", row, tt.file)
		}
	}
}

// TestPerformanceShowsTheBenchmark: the seconds of the guide are those of the last table of make bench.
func TestPerformanceShowsTheBenchmark(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	guide, err := os.ReadFile(filepath.Join(root, "templates/guides/performance-and-limits.md"))
	require.NoError(t, err)
	last, err := os.ReadFile(filepath.Join(root, "internal/bench/last.txt"))
	require.NoError(t, err)
	// seconds returns the median of a step, rounded as the guide has it.
	seconds := func(objects, step, by string) string {
		line := regexp.MustCompile(`(?m)^ +` + objects + ` +` + regexp.QuoteMeta(step) + ` +` + by + ` +\d+ +([\d.]+)`).FindStringSubmatch(string(last))
		require.NotNil(t, line, "%s objects, %s, %s", objects, step, by)
		value, err := strconv.ParseFloat(line[1], 64)
		require.NoError(t, err)
		if value >= 10 {
			return strconv.FormatFloat(value, 'f', 1, 64)
		}
		return line[1]
	}
	for row, step := range map[string]string{
		"first apply": "first apply", "plan without a change": "no-change plan", "change of 10 % of the objects": "change 10 %",
		"scale of one VDU": "scale VDU +1", "heal of one VDU": "heal VDU", "destroy": "destroy",
	} {
		want := "| " + row + " |"
		for _, objects := range []string{"60", "300", "1000", "3000"} {
			want += " " + seconds(objects, step, "terraform") + " (" + seconds(objects, step, "bare loop") + ") |"
		}
		if !strings.Contains(string(guide), want) {
			t.Errorf("the guide does not have the row %s", want)
		}
	}
	commit := regexp.MustCompile(`commit (\w+), ([\d-]+)`).FindStringSubmatch(string(last))
	require.NotNil(t, commit)
	if !strings.Contains(string(guide), "commit "+commit[1]+" of "+commit[2]) {
		t.Errorf("the guide does not say that its figures are of commit %s of %s", commit[1], commit[2])
	}
}
