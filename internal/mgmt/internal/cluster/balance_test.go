package cluster

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/hosts"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// A cluster behind a virtual address is reached there, and the load balancers reach one another by addresses of the same family.
func TestFamilyOfVirtualAddress(t *testing.T) {
	server := &hosts.Server{VNFC: vnfm.VNFC{ID: "lb-1", ConnectionPoints: map[string][]string{"lb_cp": {"10.0.0.11", "2001:db8::11"}}}}
	for address, want := range map[string][2]string{
		"10.0.0.100": {"10.0.0.100:8383", "10.0.0.11"}, "2001:db8::100": {"[2001:db8::100]:8383", "2001:db8::11"},
	} {
		lb := &LoadBalancer{NIC: "lb_cp", APIPort: defaultAPIPort, Virtual: netip.MustParseAddr(address)}
		endpoint, err := (&Cluster{Settings: &Settings{LoadBalancer: lb}}).Endpoint(t.Context())
		require.NoError(t, err)
		own, err := lb.address(server)
		require.NoError(t, err)
		assert.Equal(t, want, [2]string{endpoint, own})
	}
	server.ConnectionPoints["lb_cp"] = []string{"10.0.0.11"}
	_, err := (&LoadBalancer{NIC: "lb_cp", Virtual: netip.MustParseAddr("2001:db8::100")}).address(server)
	require.ErrorContains(t, err, "VNFC lb-1 has no address at connection point lb_cp that goes with the virtual address 2001:db8::100: it has 10.0.0.11")
}
