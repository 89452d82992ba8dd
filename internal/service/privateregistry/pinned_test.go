package privateregistry

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/tfutil"
)

// TestWarnPinned: a key that neither the record nor the state knew is reported, with the host; one that the state knew is not.
func TestWarnPinned(t *testing.T) {
	t.Parallel()
	met := map[string]string{"host/192.0.2.1": "ssh-ed25519 AAAA", "host/192.0.2.2": "ssh-ed25519 BBBB"}
	for name, c := range map[string]struct {
		known    types.Map
		reported []string
		quiet    []string
	}{
		"nothing known":     {known: types.MapNull(types.StringType), reported: []string{"host/192.0.2.1 ssh-ed25519 AAAA", "host/192.0.2.2 ssh-ed25519 BBBB"}},
		"another jump host": {known: tfutil.StringMap(map[string]string{"host/192.0.2.1": "ssh-ed25519 AAAA"}), reported: []string{"host/192.0.2.2 ssh-ed25519 BBBB"}, quiet: []string{"AAAA"}},
		"known":             {known: tfutil.StringMap(met)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var diags diag.Diagnostics
			warnPinned(&model{Name: types.StringValue("r"), PinnedHostKeys: c.known}, met, &diags)
			if len(c.reported) == 0 {
				require.Empty(t, diags)
				return
			}
			require.Len(t, diags, 1)
			require.Equal(t, diag.SeverityWarning, diags[0].Severity())
			require.Equal(t, `Host Keys of Private Registry "r" Were Pinned Again`, diags[0].Summary())
			for _, text := range c.reported {
				require.Contains(t, diags[0].Detail(), text)
			}
			for _, text := range c.quiet {
				require.NotContains(t, diags[0].Detail(), text)
			}
		})
	}
}
