package loadbalancer

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func config1() Config {
	return Config{
		APIPort: 8383, APITarget: 6443, NodePorts: []int{30090, 30080, 30090},
		Masters: []Node{{"master1", "10.0.0.1"}, {"master2", "10.0.0.2"}}, Workers: []Node{{"worker1", "10.0.0.3"}},
	}
}

// golden compares a text with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755)) //nolint:gosec // as in any checkout
		require.NoError(t, os.WriteFile(file, got, 0o600))
	}
	want, err := os.ReadFile(file) //nolint:gosec // a file of the test
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

// The configuration is the same for the same nodes, whatever was there before.
func TestConfiguration(t *testing.T) {
	got, err := render(haproxyConfig, config1())
	require.NoError(t, err)
	golden(t, "haproxy.cfg", got)
}

// Each load balancer has a priority of its own, and hears the others.
func TestSharedAddress(t *testing.T) {
	c := config1()
	c.Virtual = &Virtual{Address: netip.MustParseAddr("10.0.0.100"), RouterID: 51}
	all := []Server{{Name: "a", Address: "10.0.0.11"}, {Name: "b", Address: "10.0.0.12"}, {Name: "c", Address: "10.0.0.13"}}
	got, err := c.sharedBy(all, 1, "ens3")
	require.NoError(t, err)
	golden(t, "keepalived.conf", got)
}

// IPv6 addresses are in brackets before a port, and bare in the configuration of keepalived. HAProxy accepts connections of both families.
func TestAddressesOfIPv6(t *testing.T) {
	c := config1()
	c.Masters, c.Workers = []Node{{"master1", "2001:db8::1"}, {"master2", "2001:db8::2"}}, []Node{{"worker1", "2001:db8::3"}}
	c.Virtual = &Virtual{Address: netip.MustParseAddr("2001:db8::100"), RouterID: 51}
	got, err := render(haproxyConfig, c)
	require.NoError(t, err)
	golden(t, "haproxy-ipv6.cfg", got)
	got, err = c.sharedBy([]Server{{Name: "a", Address: "2001:db8::11"}, {Name: "b", Address: "2001:db8::12"}}, 1, "ens3")
	require.NoError(t, err)
	golden(t, "keepalived-ipv6.conf", got)
}

// The script is told of everything that the built-in configuration knows.
func TestEnvironment(t *testing.T) {
	c := config1()
	c.Virtual = &Virtual{Address: netip.MustParseAddr("10.0.0.100"), RouterID: 7}
	c.Proxy = map[string]string{"http_proxy": "http://192.0.2.1:3128"}
	c.Script = &Script{Env: map[string]string{"VNF_OPERATION": "SCALE"}}
	assert.Equal(t, map[string]string{
		"VNF_OPERATION": "SCALE", "http_proxy": "http://192.0.2.1:3128", "VNF_MASTERS": "master1=10.0.0.1,master2=10.0.0.2", "VNF_WORKERS": "worker1=10.0.0.3",
		"VNF_API_PORT": "8383", "VNF_API_TARGET_PORT": "6443", "VNF_NODE_PORTS": "30080,30090", "VNF_BALANCER_IP": "10.0.0.12",
		"VNF_BALANCERS": "10.0.0.11,10.0.0.12", "VNF_VIRTUAL_ADDRESS": "10.0.0.100", "VNF_VIRTUAL_ROUTER_ID": "7",
	}, c.environment([]Server{{Address: "10.0.0.11"}, {Address: "10.0.0.12"}}, 1))
	assert.Equal(t, "http://192.0.2.1:3128", c.Proxy["http_proxy"])
	assert.NotContains(t, c.Proxy, "VNF_MASTERS")
}
