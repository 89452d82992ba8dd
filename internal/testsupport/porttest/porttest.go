// Package porttest gives tests ports for servers that start later.
package porttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// The ports given: above those that the kernel gives to connections and to listeners on port 0 (32768 to 60999, ip(7)), which
// could take a port between Free and the start of its server, and above those of labs.
const (
	first = 61000
	last  = 65535
)

// Free returns a TCP port on which nothing listens, at any address. No other test gets it before this one ends.
func Free(t testing.TB) int {
	t.Helper()
	for range last - first {
		port := first + rand.IntN(last-first+1) //nolint:gosec // Any port does.
		// Sockets with such names end with their process: there is no file to be left behind.
		taken, err := net.Listen("unix", fmt.Sprintf("@porttest-%d", port)) //nolint:noctx // It answers at once.
		if err != nil {
			continue
		}
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port)) //nolint:noctx // It answers at once.
		if err != nil {
			_ = taken.Close()
			continue
		}
		t.Cleanup(func() { _ = taken.Close() })
		require.NoError(t, listener.Close())
		return port
	}
	t.Fatalf("no port from %d to %d is free", first, last)
	return 0
}
