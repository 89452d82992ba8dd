package provider_test

import (
	"os"
	"path/filepath"
	"regexp"
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
		{"internal/lab/nodes/go.mod", `k8s.io/kubernetes v(\S+)`, "and % with real nodes"},
		{"internal/lab/nodes/previous/go.mod", `k8s.io/kubernetes v(\S+)`, "| Kubernetes of workload clusters | % and"},
		{"internal/lab/capi/go.mod", `(?m)^\tsigs.k8s.io/cluster-api v(\S+)$`, "| Cluster API | %:"},
		{"internal/lab/capi/go.mod", `cluster-api-provider-openstack v(\S+)`, "| Cluster API Provider OpenStack | % with"},
		{"internal/lab/capi/go.mod", `openstack-resource-controller/v2 v(\S+)`, "Resource Controller % |"},
		{"go.mod", `helm.sh/helm/v4 v(\S+)`, "| Helm | %:"},
		{"tools/cli/main.go", `version: "(1\.15\.\d+)"`, "tests. %: [a list]"},
		{"tools/cli/main.go", `version: "(1\.12\.\d+)"`, "| OpenTofu | %:"},
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
