package porttest

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFree(t *testing.T) {
	given := map[int]bool{}
	for range 200 {
		port := Free(t)
		assert.False(t, given[port], "port %d is given twice", port)
		given[port] = true
		assert.Greater(t, port, 60999, "the kernel gives lower ports to anybody")
	}
	for port := range given {
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		require.NoError(t, err)
		require.NoError(t, listener.Close())
	}
}
