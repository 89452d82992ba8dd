package postgres

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
)

// cutter is a proxy that cuts the connection of one request: before the server gets it, or
// when it has done it and before the answer. It knows the frames of the protocol: a request
// is what the server answers with ReadyForQuery.
type cutter struct {
	// network and address are the server's.
	network, address string
	at               int
	done             bool

	requests atomic.Int32
}

// breakAt opens a store through a cutter.
func breakAt(t *testing.T, address string, at int, done bool) (store.Store, func() int) {
	t.Helper()
	schema, connStr, _ := strings.Cut(address, "|")
	config, err := pgx.ParseConfig(connStr)
	require.NoError(t, err)
	c := &cutter{network: "unix", address: fmt.Sprintf("%s/.s.PGSQL.%d", config.Host, config.Port), at: at, done: done}
	through := c.listen(t)
	s, err := open(t.Context(), Config{ConnStr: fmt.Sprintf("host=127.0.0.1 port=%d user=%s dbname=%s sslmode=disable", through, config.User, config.Database), Schema: schema}, quick(), testContent)
	require.NoError(t, err)
	return s, func() int { return int(c.requests.Load()) }
}

// listen serves until the test ends, and returns the port.
func (c *cutter) listen(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // It ends with the test.
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(client)
		}
	}()
	address, ok := l.Addr().(*net.TCPAddr)
	require.True(t, ok, l.Addr())
	return address.Port
}

// serve carries one connection.
func (c *cutter) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // Cut or ended.
	server, err := net.Dial(c.network, c.address)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // As above.
	// mute keeps the answers of the request that is not answered.
	var mute atomic.Bool
	var both sync.WaitGroup
	both.Go(func() {
		answers(server, client, &mute)
		_ = client.Close()
		_ = server.Close()
	})
	c.forward(client, server, &mute)
	if !mute.Load() {
		_ = server.Close()
	}
	both.Wait()
}

// forward carries what the client says, until it is cut.
func (c *cutter) forward(client, server net.Conn, mute *atomic.Bool) {
	// The message that begins a connection has no type. That of a cancellation, which is
	// shorter, is no request.
	frame, err := readFrame(client, 0)
	for first := true; err == nil; first = false {
		request := first && len(frame) > 16 || !first && (frame[0] == 'Q' || frame[0] == 'S')
		if request && int(c.requests.Add(1))-1 == c.at {
			if !c.done {
				return
			}
			mute.Store(true)
		}
		if _, err := server.Write(frame); err != nil {
			return
		}
		if mute.Load() {
			return
		}
		frame, err = readFrame(client, 1)
	}
}

// answers carries what the server says. Muted, it ends when the server is ready again.
func answers(server, client net.Conn, mute *atomic.Bool) {
	for {
		frame, err := readFrame(server, 1)
		if err != nil {
			return
		}
		if mute.Load() {
			if frame[0] == 'Z' {
				return
			}
			continue
		}
		if _, err := client.Write(frame); err != nil {
			return
		}
	}
}

// readFrame reads a message: a type of so many bytes, and a length that counts itself.
func readFrame(r io.Reader, typed int) ([]byte, error) {
	head := make([]byte, typed+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	frame := make([]byte, typed+int(binary.BigEndian.Uint32(head[typed:])))
	copy(frame, head)
	_, err := io.ReadFull(r, frame[len(head):])
	return frame, err
}
