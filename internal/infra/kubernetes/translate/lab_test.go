package translate_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
)

// TestTranslationsAreAccepted has the API server validate all objects of the table translations.
func TestTranslationsAreAccepted(t *testing.T) {
	lab := labtest.Kubernetes(t)
	namespace := lab.Namespace(t)
	for _, tt := range translations {
		t.Run(tt.name, func(t *testing.T) {
			target, ps := vnfdTarget(t, tt.vnfd)
			require.False(t, ps.HasErrors(), ps)
			for i := range target.Flavour.VDUs {
				target.Flavour.VDUs[i].Workload.Namespace = namespace
			}
			text := ""
			for _, object := range renderedText(t, target) {
				text += "---\n" + object
			}
			file := filepath.Join(t.TempDir(), "objects.yaml")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			lab.Kubectl(t, "apply", "--dry-run=server", "--validate=strict", "-f", file)
		})
	}
}
