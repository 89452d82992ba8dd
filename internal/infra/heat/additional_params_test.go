package heat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// What only other kinds of infrastructure know is one warning, as on Kubernetes; the rest is for the templates of the package.
func TestForeignParams(t *testing.T) {
	target := &vnfm.Target{
		Instance: &vnfm.Instance{AdditionalParams: map[string]any{
			"namespace": "core", "lcm-kubernetes-def-files": []any{"a.yaml"}, "upgrade_type": "RollingUpdate", "colour": "red", "nfv": map[string]any{"VDU": 1},
		}},
		ParamOwners: vnfm.ParamOwners{Infra: map[string]string{
			"namespace": "the Kubernetes driver", "lcm-kubernetes-def-files": "the Kubernetes driver", "upgrade_type": "the Kubernetes driver", "nfv": "the OpenStack driver",
		}},
	}
	var ps vnfm.Problems
	got := readParams(target, &ps)
	require.Len(t, ps, 1)
	require.Equal(t, vnfm.SeverityWarning, ps[0].Severity)
	require.Equal(t, `the OpenStack driver ignores additional parameters "lcm-kubernetes-def-files", "namespace", "upgrade_type": `+
		"lcm-kubernetes-def-files, namespace: a parameter of the Kubernetes driver; upgrade_type: a change of the package is always made VNFC by VNFC", ps[0].String())
	require.Equal(t, map[string]any{"colour": "red"}, got.stack)
	require.Equal(t, map[string]any{"VDU": 1}, got.nfv)
}
