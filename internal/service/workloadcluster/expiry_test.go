package workloadcluster

import (
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExpiryWarning(t *testing.T) {
	for name, c := range map[string]struct {
		left time.Duration
		want string
	}{
		"none":      {},
		"far":       {left: expiryWarning + time.Hour},
		"near":      {left: expiryWarning - time.Hour, want: `Kubeconfig of Workload Cluster "edge" Expires Soon`},
		"over":      {left: -time.Hour, want: `Kubeconfig of Workload Cluster "edge" Has Expired`},
		"just over": {left: -time.Second, want: `Kubeconfig of Workload Cluster "edge" Has Expired`},
	} {
		t.Run(name, func(t *testing.T) {
			var diags diag.Diagnostics
			var notAfter time.Time
			if c.left != 0 {
				notAfter = time.Now().Add(c.left)
			}
			warnOfExpiry("edge", notAfter, &diags)
			if c.want == "" {
				assert.Empty(t, diags)
				return
			}
			require.Equal(t, 1, diags.WarningsCount())
			assert.Equal(t, c.want, diags[0].Summary())
			assert.Contains(t, diags[0].Detail(), notAfter.UTC().Format(time.RFC3339))
			assert.Contains(t, diags[0].Detail(), "Change kubeconfig_rotation_trigger of the cluster")
		})
	}
}
