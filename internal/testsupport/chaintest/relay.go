package chaintest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/poll"
)

// Relay stands before a port of this machine, a delay away, until the test ends. A request is what a client sends before the server answers.
func (c *Chain) Relay(t testing.TB, delay time.Duration, port int) (host string, at int) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var all sync.WaitGroup
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				_ = client.Close()
				continue
			}
			r := &relayed{chain: c, delay: delay, client: client, server: server}
			all.Go(func() { r.ask(t.Context()) })
			all.Go(r.tell)
		}
	})
	address, ok := listener.Addr().(*net.TCPAddr)
	require.True(t, ok)
	return address.IP.String(), address.Port
}

// relayed is a connection through a relay.
type relayed struct {
	chain          *Chain
	delay          time.Duration
	client, server net.Conn

	mu sync.Mutex
	// depth is that of the request which the server has not answered; zero for none. It was begun at a time, and is what was asked since.
	depth int
	began time.Time
	asked []byte
}

// ask hands on what the client sends, a round trip later.
func (r *relayed) ask(ctx context.Context) {
	defer r.server.Close() //nolint:errcheck // Nothing is left to be written.
	type part struct {
		data []byte
		due  time.Time
	}
	parts := make(chan part, 1024)
	go func() {
		defer close(parts)
		for {
			buffer := make([]byte, 64<<10)
			n, err := r.client.Read(buffer)
			if err != nil {
				return
			}
			r.mu.Lock()
			if r.depth == 0 {
				r.began = time.Now()
				r.depth, r.asked = r.chain.begin(r.began), nil
			}
			r.asked = append(r.asked, buffer[:n]...)
			r.mu.Unlock()
			parts <- part{buffer[:n], time.Now().Add(r.delay)}
		}
	}()
	for p := range parts {
		if poll.Sleep(ctx, time.Until(p.due)) != nil {
			return
		}
		if _, err := r.server.Write(p.data); err != nil {
			return
		}
	}
}

// tell hands on what the server answers.
func (r *relayed) tell() {
	defer r.client.Close() //nolint:errcheck // Nothing is left to be written.
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.server.Read(buffer)
		if err != nil {
			return
		}
		r.mu.Lock()
		if r.depth > 0 {
			r.chain.end(r.depth, r.began, words(r.asked))
			r.depth = 0
		}
		r.mu.Unlock()
		if _, err := r.client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// words are the texts in what was sent, without the gaps between them, up to the length of a long line.
func words(sent []byte) string {
	const shortest, longest = 5, 400
	var out strings.Builder
	for _, text := range bytes.FieldsFunc(sent, func(r rune) bool { return r < ' ' || r > '~' }) {
		if len(text) >= shortest && out.Len() < longest {
			out.WriteByte(' ')
			out.Write(text)
		}
	}
	return strings.TrimSpace(out.String())
}
