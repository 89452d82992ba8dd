package proxy

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
)

// Egress is the way from the API server to what is in the cluster: webhooks behind Services, and kubelets. Where a
// cluster has a network, a lab has this. It is a proxy for CONNECT, which the API server calls an egress selector.
type Egress struct {
	// Find says where an address of the cluster is reached. Its error is the answer to the API server.
	Find func(ctx context.Context, address string) (string, error)
	Log  *slog.Logger
}

// Handler is the proxy.
func (e *Egress) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "this is a proxy for CONNECT", http.StatusMethodNotAllowed)
			return
		}
		target, err := e.connect(r.Context(), r.URL.Host)
		hijacker, ok := w.(http.Hijacker)
		if !ok {
			http.Error(w, "the connection cannot be taken over", http.StatusInternalServerError)
			return
		}
		client, _, hijackErr := hijacker.Hijack()
		if hijackErr != nil {
			e.Log.Error("taking over a connection of the API server", "error", hijackErr)
			return
		}
		defer client.Close() //nolint:errcheck // Nothing is left to be said on it.
		if err != nil {
			e.Log.Warn("no way into the cluster", "address", r.URL.Host, "error", err)
			// The API server repeats the status line to its client, and nothing else.
			_, _ = fmt.Fprintf(client, "HTTP/1.1 503 %v\r\n\r\n", err)
			return
		}
		defer target.Close() //nolint:errcheck // As above.
		if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return
		}
		splice(client, target)
	})
}

func (e *Egress) connect(ctx context.Context, address string) (net.Conn, error) {
	found, err := e.Find(ctx, address)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", found)
}

// splice copies both ways until one side has ended.
func splice(a, b net.Conn) {
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
}
