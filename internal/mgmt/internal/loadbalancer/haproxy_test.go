package loadbalancer

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func config1() Config {
	return Config{
		APIPort: 8383, APITarget: 6443, NodePorts: []int{30090, 30080},
		Masters: []Node{{"master1", "10.0.0.1"}, {"master2", "10.0.0.2"}}, Workers: []Node{{"worker1", "10.0.0.3"}},
	}
}

// The configuration is the same for the same nodes, whatever was there before.
func TestConfiguration(t *testing.T) {
	got, err := render(config1())
	require.NoError(t, err)
	golden := filepath.Join("testdata", "haproxy.cfg")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755)) //nolint:gosec // as in any checkout
		require.NoError(t, os.WriteFile(golden, got, 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}
