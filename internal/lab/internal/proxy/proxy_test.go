package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lab/internal/pki"
)

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// echo starts a server that answers every line with the same line.
func echo(t *testing.T) string {
	t.Helper()
	listener := listen(t, "tcp", "127.0.0.1:0")
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close() //nolint:errcheck // Nothing is lost that a test would look at.
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	return listener.Addr().String()
}

func startFaulty(t *testing.T) (*Faulty, string) {
	t.Helper()
	listener := listen(t, "tcp", "127.0.0.1:0")
	faulty := NewFaulty(echo(t), slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- faulty.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return faulty, listener.Addr().String()
}

type client struct {
	net.Conn

	lines *bufio.Reader
}

func dial(t *testing.T, address string) *client {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return &client{Conn: conn, lines: bufio.NewReader(conn)}
}

func (c *client) ask(line string) error {
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		return err
	}
	answer, err := c.lines.ReadString('\n')
	if err != nil {
		return err
	}
	if answer != line+"\n" {
		return errors.New("answer " + answer)
	}
	return nil
}

// broken tells whether the other side has ended the connection, without sending anything.
func (c *client) broken() bool {
	_, err := c.lines.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

func TestFaultCut(t *testing.T) {
	faulty, address := startFaulty(t)
	before := dial(t, address)
	if err := before.ask("hello"); err != nil {
		t.Fatalf("before the cut: %v", err)
	}
	faulty.Set(Fault{Mode: ModeCut})
	if !before.broken() {
		t.Error("an idle connection survives the cut")
	}
	// The reset may come as early as in the handshake.
	var dialer net.Dialer
	if conn, err := dialer.DialContext(t.Context(), "tcp", address); err == nil {
		during := &client{Conn: conn, lines: bufio.NewReader(conn)}
		if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if !during.broken() {
			t.Error("a new connection stays open during the cut")
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	faulty.Set(Fault{Mode: ModeClear})
	if err := dial(t, address).ask("hello"); err != nil {
		t.Errorf("after the cut: %v", err)
	}
}

func TestFaultDelay(t *testing.T) {
	faulty, address := startFaulty(t)
	conn := dial(t, address)
	const delay = 60 * time.Millisecond
	faulty.Set(Fault{Mode: ModeDelay, Delay: delay})
	start := time.Now()
	if err := conn.ask("hello"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 2*delay {
		t.Errorf("a question and its answer took %s, less than %s each way", took, delay)
	}
}

func TestFaultDropAfter(t *testing.T) {
	faulty, address := startFaulty(t)
	conn := dial(t, address)
	if err := conn.ask("not counted"); err != nil {
		t.Fatal(err)
	}
	faulty.Set(Fault{Mode: ModeDropAfter, Reads: 4})
	for i := range 2 {
		if err := conn.ask("counted"); err != nil {
			t.Fatalf("exchange %d: %v", i, err)
		}
	}
	if err := conn.ask("too many"); err == nil {
		t.Error("the fifth read was forwarded")
	}
	if err := dial(t, address).ask("counted afresh"); err != nil {
		t.Errorf("another connection: %v", err)
	}
}

// TestFaultOrderlyEnd sends more than fits in the buffers and closes at once: nothing of it may be lost.
func TestFaultOrderlyEnd(t *testing.T) {
	_, address := startFaulty(t)
	conn := dial(t, address)
	want := strings.Repeat("0123456789abcdef", 1<<16)
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(conn, want)
		if half, ok := conn.Conn.(*net.TCPConn); ok && err == nil {
			err = half.CloseWrite()
		}
		sent <- err
	}()
	got, err := io.ReadAll(conn.lines)
	if err := errors.Join(err, <-sent); err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%d of %d bytes came back", len(got), len(want))
	}
}

func TestParseFault(t *testing.T) {
	tests := map[string]struct {
		want    Fault
		refused bool
	}{
		"cut":                {want: Fault{Mode: ModeCut}},
		"clear":              {want: Fault{Mode: ModeClear}},
		"delay 300ms":        {want: Fault{Mode: ModeDelay, Delay: 300 * time.Millisecond}},
		"drop-after 10":      {want: Fault{Mode: ModeDropAfter, Reads: 10}},
		"":                   {refused: true},
		"cut 3":              {refused: true},
		"delay":              {refused: true},
		"delay -1s":          {refused: true},
		"delay soon":         {refused: true},
		"drop-after ten":     {refused: true},
		"drop-after -1":      {refused: true},
		"explode in 3":       {refused: true},
		"drop-after 1 2":     {refused: true},
		"delay 300ms please": {refused: true},
	}
	for text, test := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := ParseFault(strings.Fields(text))
			if (err != nil) != test.refused {
				t.Fatalf("error %v, refusal expected: %v", err, test.refused)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("fault (-want +got):\n%s", diff)
			}
			if err == nil && got.String() != text {
				t.Errorf("printed as %q", got)
			}
		})
	}
}

func TestControl(t *testing.T) {
	t.Chdir(t.TempDir())
	listener := listen(t, "unix", "control.sock")
	control := &Control{Log: slog.New(slog.DiscardHandler), Handle: func(words []string) (string, error) {
		if words[0] == "fail" {
			return "", errors.New("as asked")
		}
		return strings.Join(words, "+"), nil
	}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- control.Serve(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	if answer, err := Command(t.Context(), "control.sock", "delay", "3s"); err != nil || answer != "delay+3s" {
		t.Errorf("answer %q, error %v", answer, err)
	}
	if _, err := Command(t.Context(), "control.sock", "fail"); err == nil || err.Error() != "as asked" {
		t.Errorf("error %v", err)
	}
}

func TestBasic(t *testing.T) {
	authority, err := pki.NewCA("front-proxy-ca")
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := authority.Issue(pki.Request{CommonName: "front-proxy-client"})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan *http.Request, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r }))
	pool := x509.NewCertPool()
	pool.AddCert(authority.Certificate)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	server.StartTLS()
	defer server.Close()
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	handler := (&Basic{
		Target: target, Roots: roots, Client: certificate.TLS(),
		Username: "lab-basic", Password: "right", Groups: []string{"a", "b"},
		Log: slog.New(slog.DiscardHandler),
	}).Handler()

	tests := map[string]struct {
		username, password string
		code               int
	}{
		"right":          {username: "lab-basic", password: "right", code: http.StatusOK},
		"wrong password": {username: "lab-basic", password: "wrong", code: http.StatusUnauthorized},
		"wrong name":     {username: "admin", password: "right", code: http.StatusUnauthorized},
		"none":           {code: http.StatusUnauthorized},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api?limit=1", nil)
			request.Header.Set(HeaderUser, "system:admin")
			request.Header.Set(HeaderGroup, "system:masters")
			request.Header.Set(HeaderExtraPrefix+"Scopes", "all")
			if test.username != "" {
				request.SetBasicAuth(test.username, test.password)
			}
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, request)
			if recorder.Code != test.code {
				t.Fatalf("status %d, want %d", recorder.Code, test.code)
			}
			if test.code != http.StatusOK {
				if recorder.Header().Get("WWW-Authenticate") == "" {
					t.Error("no challenge")
				}
				return
			}
			got := <-seen
			if diff := cmp.Diff([]string{"lab-basic"}, got.Header[HeaderUser]); diff != "" {
				t.Errorf("user (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"a", "b"}, got.Header[HeaderGroup]); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
			if got.Header.Get("Authorization") != "" || got.Header.Get(HeaderExtraPrefix+"Scopes") != "" {
				t.Error("what the client claims about itself reaches the server")
			}
			if got.URL.String() != "/api?limit=1" {
				t.Errorf("URL %s", got.URL)
			}
		})
	}
}

func TestPodLogs(t *testing.T) {
	kwok := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.String())
	}))
	defer kwok.Close()
	target, err := url.Parse(kwok.URL)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program.log")
	if err := os.WriteFile(program, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(_, name string) string {
		if name == "program" {
			return program
		}
		return ""
	}
	handler := (&PodLogs{Kwok: target, Log: slog.New(slog.DiscardHandler), File: file, Model: func(_ context.Context, namespace, name, _ string) (string, string, error) {
		if name == "gone" {
			return "", "", errors.New("there is none")
		}
		return "models", namespace + "-" + name, nil
	}}).Handler()

	tests := map[string]struct {
		path, want string
		code       int
	}{
		"logs":  {path: "/containerLogs/core/amf-0/amf?tailLines=3", want: "/containerLogs/models/core-amf-0/amf?tailLines=3", code: http.StatusOK},
		"real":  {path: "/containerLogs/core/program/amf", want: "one\ntwo\nthree\n", code: http.StatusOK},
		"tail":  {path: "/containerLogs/core/program/amf?tailLines=2", want: "two\nthree\n", code: http.StatusOK},
		"gone":  {path: "/containerLogs/core/gone/amf", code: http.StatusBadRequest},
		"other": {path: "/exec/core/amf-0/amf?command=ls", want: "/exec/core/amf-0/amf?command=ls", code: http.StatusOK},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, nil))
			if recorder.Code != test.code || (test.code == http.StatusOK && recorder.Body.String() != test.want) {
				t.Errorf("status %d, body %q", recorder.Code, recorder.Body)
			}
		})
	}
}

// TestEgress is the API server on its way into the cluster.
func TestEgress(t *testing.T) {
	target := echo(t)
	handler := (&Egress{Log: slog.New(slog.DiscardHandler), Find: func(_ context.Context, address string) (string, error) {
		if address == "10.96.0.7:443" {
			return target, nil
		}
		return "", errors.New("nothing has the address " + address)
	}}).Handler()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	connect := func(address string) (*client, string) {
		c := dial(t, server.Listener.Addr().String())
		if _, err := io.WriteString(c, "CONNECT "+address+" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		status, err := c.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		return c, strings.TrimSpace(status)
	}
	c, status := connect("10.96.0.7:443")
	if status != "HTTP/1.1 200 OK" {
		t.Errorf("the answer is %q", status)
	}
	if err := c.ask("hello"); err != nil {
		t.Error(err)
	}
	c, status = connect("10.96.0.8:443")
	if status != "HTTP/1.1 503 nothing has the address 10.96.0.8:443" || !c.broken() {
		t.Errorf("the answer is %q", status)
	}
}
