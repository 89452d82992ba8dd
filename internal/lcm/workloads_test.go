package lcm_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestSettingsOfContainersAreSealed onboards a VNFD with a secret among the settings
// of a container and in the boot data of a server: another process has it, and readers of the store have not.
func TestSettingsOfContainersAreSealed(t *testing.T) {
	w := newEnv(t)
	dir := filepath.Join(t.TempDir(), "gateway")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "packages", "gateway"))))
	const secret = "planted-among-the-settings"
	file := filepath.Join(dir, "gateway.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte("LOG_LEVEL: info"), []byte("PASSWORD: "+secret))
	text = bytes.Replace(text, []byte("  node_templates:\n"), []byte(`  node_templates:
    server:
      type: tosca.nodes.nfv.Vdu.Compute
      properties: { name: server, boot_data: '`+secret+`', vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 } }
`), 1)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	p, problems, err := w.OnboardPackage(t.Context(), vnfm.PackageSpec{Name: "gateway", Source: dir, Integrity: "warn", Signature: "ignore"}, "")
	if err != nil || problems.HasErrors() {
		t.Fatal(err, problems)
	}
	again, err := w.open(t).Package(t.Context(), p.ID)
	require.NoError(t, err)
	proxy := again.Descriptor.Flavour("default").VDU("proxy")
	require.NotNil(t, proxy.Workload, "another process reads of the containers")
	require.Equal(t, secret, proxy.Workload.Containers[0].Config["PASSWORD"], "another process reads of the containers")
	server := again.Descriptor.Flavour("default").VDU("server")
	if server.Compute == nil || server.Compute.BootData == nil || server.Compute.BootData.Content != secret {
		t.Errorf("another process reads of the server: %+v", server.Compute)
	}
	// Editing what is in clear ends in an error.
	for _, edit := range []string{`"proxy"`, `"server"`, `"default"`, `"Compute"`} {
		edited := w.damaged(t)(store.KindPackage, func(data []byte) []byte { return bytes.ReplaceAll(data, []byte(edit), []byte(`"other"`)) })
		if _, err := edited.Package(t.Context(), p.ID); err == nil || !strings.Contains(err.Error(), "the record was edited") || !strings.Contains(err.Error(), p.ID) {
			t.Errorf("%s edited: %v", edit, err)
		}
	}
	notIn(t, w.dir, secret)
}
