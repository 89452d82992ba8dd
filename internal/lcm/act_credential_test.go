package lcm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestCredentialTrigger: a cluster gets another application credential if it has one, and if its configuration leaves the trigger out, which
// the next apply would follow.
func TestCredentialTrigger(t *testing.T) {
	t.Parallel()
	own := &vnfm.ClusterSpec{OpenStack: &vnfm.ClusterOpenStack{VIMID: "cloud", Credential: &vnfm.ClusterCredential{RotationTrigger: "before"}}}
	for _, c := range []struct {
		name, arguments string
		cluster         *vnfm.ClusterSpec
		refused         string
	}{
		{name: "VNF instance", refused: "has no application credential of its own"},
		{name: "no credential", cluster: &vnfm.ClusterSpec{}, refused: "has no application credential of its own"},
		{name: "configured", cluster: own, arguments: `{"openstack":{"application_credential":{"rotation_trigger":"leaked"}}}`, refused: "change that instead"},
		{name: "left out", cluster: own, arguments: `{"openstack":{"application_credential":{}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := withCredentialTrigger(&vnfm.Instance{Arguments: []byte(c.arguments)}, c.cluster, "now")
			if c.refused != "" {
				require.ErrorContains(t, err, c.refused)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "now", got.OpenStack.Credential.RotationTrigger)
			require.Equal(t, "before", own.OpenStack.Credential.RotationTrigger)
		})
	}
}
