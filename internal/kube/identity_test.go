package kube

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const execV1 = "client.authentication.k8s.io/v1"

// gate is an API server that accepts one token.
type gate struct {
	*httptest.Server
	mu       sync.Mutex
	accepted string
	seen     []string
}

func newGate(t *testing.T, accepted string) *gate {
	t.Helper()
	g := &gate{accepted: accepted}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		g.seen = append(g.seen, token)
		if token != g.accepted {
			answer(401, "Unauthorized", "Unauthorized")(w)
			return
		}
		configMap(w)
	}))
	t.Cleanup(g.Close)
	return g
}

// accept makes the server accept another token from now on, and forgets earlier requests.
func (g *gate) accept(token string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.accepted, g.seen = token, nil
}

func (g *gate) read(t *testing.T, c *Client) error {
	t.Helper()
	_, err := c.Get(t.Context(), Ref{Resource: podResource, Namespace: "n", Name: "a"})
	return err
}

func (g *gate) saw(t *testing.T, want ...string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	assert.Equal(t, want, g.seen, "tokens")
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// script writes a program for the shell.
func script(t *testing.T, path, text string) string {
	t.Helper()
	// A child process that is being started inherits all open files, and a program that is open for
	// writing cannot be run.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return path
}

func credential(token string) string {
	return fmt.Sprintf(`{"kind":"ExecCredential","apiVersion":%q,"status":{"token":%q}}`, execV1, token)
}

// TestTokenFileIsReadAgain replaces the token in a file while the client lives.
func TestTokenFileIsReadAgain(t *testing.T) {
	t.Parallel()
	g := newGate(t, "token-1")
	path := write(t, filepath.Join(t.TempDir(), "token"), "token-1\n")
	c := newClient(t, Config{VIM: "edge", Connection: vnfm.KubernetesConnection{Endpoint: g.URL, TokenFile: path}})
	require.NoError(t, g.read(t, c))
	g.accept("token-2")
	write(t, path, "token-2")
	require.NoError(t, g.read(t, c))
	g.saw(t, "token-2")
	// While another process writes the file, the last token is used again.
	write(t, path, "")
	require.NoError(t, g.read(t, c))
	write(t, path, "token-2\n")
	g.accept("token-3")
	err := g.read(t, c)
	var refused *CredentialsError
	require.ErrorAs(t, err, &refused)
	g.saw(t, "token-2")
	mustSay(t, err, `VIM "edge"`, fmt.Sprintf("refused the credentials of the token file %q: Unauthorized; they were read again", path), "or correct its vnf_vim resource, and apply again")
}

// TestSourcesThatFail: errors name the source and the cause, and repeat none of its contents.
func TestSourcesThatFail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const secret = "planted-secret"
	files := 0
	next := func() string {
		files++
		return filepath.Join(dir, fmt.Sprint(files))
	}
	file := func(text string) vnfm.KubernetesConnection {
		return vnfm.KubernetesConnection{TokenFile: write(t, next(), text)}
	}
	program := func(text string) vnfm.KubernetesConnection {
		path := script(t, next(), text)
		return vnfm.KubernetesConnection{Exec: &vnfm.ExecPlugin{Command: path, APIVersion: execV1}}
	}
	prints := func(text string) vnfm.KubernetesConnection { return program("cat <<'END'\n" + text + "\nEND\n") }
	for name, tc := range map[string]struct {
		connection vnfm.KubernetesConnection
		says       string
	}{
		"no file":          {vnfm.KubernetesConnection{TokenFile: filepath.Join(dir, "missing")}, "there is no such file: it must be on each machine where Terraform runs"},
		"folder":           {vnfm.KubernetesConnection{TokenFile: dir}, "it is not a file but a directory"},
		"empty file":       {file(" \n"), "the file is empty: it must hold the token alone"},
		"another file":     {file("token: " + secret), "the file contains white space: it must hold the token alone"},
		"no program":       {vnfm.KubernetesConnection{Exec: &vnfm.ExecPlugin{Command: "no-such-program-4711", APIVersion: execV1}}, "there is no such program: install it on each machine where Terraform runs, or give its path"},
		"no path":          {vnfm.KubernetesConnection{Exec: &vnfm.ExecPlugin{Command: filepath.Join(dir, "gone"), APIVersion: execV1}}, "there is no such program"},
		"not executable":   {vnfm.KubernetesConnection{Exec: &vnfm.ExecPlugin{Command: write(t, filepath.Join(dir, "text"), secret), APIVersion: execV1}}, "permission denied"},
		"fails":            {program("echo " + secret + "\necho " + secret + " >&2\nexit 3\n"), "it ended with exit code 3; its output is not shown, since it may contain credentials"},
		"killed":           {program("kill -9 $$\n"), "it was ended by a signal"},
		"prints nothing":   {program("exit 0\n"), "it does not print an ExecCredential of " + execV1 + " as JSON"},
		"prints rubbish":   {prints(secret), "it does not print an ExecCredential"},
		"another kind":     {prints(`{"kind":"Secret","apiVersion":"v1","status":{"token":"` + secret + `"}}`), "it does not print an ExecCredential"},
		"another version":  {prints(strings.Replace(credential(secret), execV1, execV1+"beta1", 1)), "it prints an ExecCredential of " + execV1 + "beta1: set api_version to that, instead of " + execV1},
		"a foreign one":    {prints(strings.Replace(credential(secret), execV1, secret, 1)), "it prints an ExecCredential of another version than " + execV1},
		"no status":        {prints(`{"kind":"ExecCredential","apiVersion":"` + execV1 + `"}`), "has neither a token nor a certificate in its status"},
		"token by half":    {prints(credential(secret + " x")), "the token in the ExecCredential that it prints contains white space"},
		"certificate only": {prints(`{"kind":"ExecCredential","apiVersion":"` + execV1 + `","status":{"clientCertificateData":"` + secret + `"}}`), "has only one of clientCertificateData and clientKeyData"},
		"bad certificate":  {prints(`{"kind":"ExecCredential","apiVersion":"` + execV1 + `","status":{"clientCertificateData":"` + secret + `","clientKeyData":"` + secret + `"}}`), "the certificate and the key in the ExecCredential that it prints cannot be used"},
		"too much":         {program("head -c 2000000 /dev/zero\n"), "1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t, secret)
			tc.connection.Endpoint = g.URL
			err := g.read(t, newClient(t, Config{VIM: "edge", Connection: tc.connection}))
			var source *SourceError
			require.ErrorAs(t, err, &source)
			g.saw(t)
			mustSay(t, err, `reading Pod n/a: reading the credentials of VIM "edge" from the `, tc.says)
			assert.NotContains(t, err.Error(), secret, "the error repeats what was printed: %v", err)
		})
	}
}

// TestExec runs a program once for many requests, and again after its credentials have expired or
// were rejected. The program gets the same input as from client-go.
func TestExec(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := newGate(t, "token-1")
	tokenFile, log := write(t, filepath.Join(dir, "token"), "token-1"), filepath.Join(dir, "log")
	command := script(t, filepath.Join(dir, "login"), `
echo "$1 $2 $COLOUR $KUBERNETES_EXEC_INFO" >> `+log+`
read -r input && echo "there is input" >> `+log+`
echo noise >&2
printf '{"kind":"ExecCredential","apiVersion":"`+execV1+`","status":{"token":"%s"}}' "$(cat `+tokenFile+`)"
`)
	c := newClient(t, Config{VIM: "edge", Connection: vnfm.KubernetesConnection{
		Endpoint: g.URL, Exec: &vnfm.ExecPlugin{Command: command, Args: []string{"get", "token"}, Env: map[string]string{"COLOUR": "blue"}, APIVersion: execV1},
	}})
	runs := func(want int) {
		t.Helper()
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		got := strings.Count(string(text), "\n")
		assert.Equal(t, want, got, "the program ran %d times, want %d:\n%s", got, want, text)
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if err := g.read(t, c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	runs(1)
	text, err := os.ReadFile(log)
	if want := `get token blue {"kind":"ExecCredential","apiVersion":"` + execV1 + `","spec":{"interactive":false}}` + "\n"; err != nil || string(text) != want {
		t.Errorf("it was told %q, want %q", text, want)
	}
	g.accept("token-2")
	write(t, tokenFile, "token-2")
	for range 10 {
		wg.Go(func() {
			if err := g.read(t, c); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	runs(2)
	// Without new credentials, one run follows and the request fails.
	g.accept("token-3")
	err = g.read(t, c)
	runs(3)
	g.saw(t, "token-2")
	var refused *CredentialsError
	require.ErrorAs(t, err, &refused)
	mustSay(t, err, fmt.Sprintf("refused the credentials of the program %q", command))
}

// TestExecExpires runs a program again before its credentials end.
func TestExecExpires(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g, count := newGate(t, "token"), filepath.Join(dir, "count")
	for soon, want := range map[bool]int{true: 2, false: 1} {
		expires := time.Now().Add(time.Hour)
		if soon {
			expires = time.Now().Add(expiryMargin / 2)
		}
		name := fmt.Sprint(soon)
		command := script(t, filepath.Join(dir, name), "echo >> "+count+name+"\necho '"+
			strings.Replace(credential("token"), `"status":{`, `"status":{"expirationTimestamp":"`+expires.UTC().Format(time.RFC3339)+`",`, 1)+"'\n")
		c := newClient(t, Config{VIM: "edge", Connection: vnfm.KubernetesConnection{Endpoint: g.URL, Exec: &vnfm.ExecPlugin{Command: command, APIVersion: execV1}}})
		for range 2 {
			require.NoError(t, g.read(t, c))
		}
		if text, err := os.ReadFile(count + name); err != nil || len(text) != want {
			t.Errorf("soon %t: the program ran %d times, want %d (%v)", soon, len(text), want, err)
		}
	}
}

// TestExecCertificate logs in with a certificate that a program prints. A new certificate needs a
// new connection.
func TestExecCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var accepted atomic.Pointer[string]
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, c := range r.TLS.PeerCertificates {
			if string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})) == *accepted.Load() {
				configMap(w)
				return
			}
		}
		answer(401, "Unauthorized", "Unauthorized")(w)
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert} //nolint:gosec // a test
	server.StartTLS()
	t.Cleanup(server.Close)
	output := filepath.Join(dir, "output")
	login := func() {
		certificate, key := newCertificate(t)
		text, err := json.Marshal(execCredential{Kind: "ExecCredential", APIVersion: execV1, Status: &execStatus{Certificate: certificate, Key: key}})
		require.NoError(t, err)
		write(t, output, string(text))
		accepted.Store(&certificate)
	}
	login()
	c := newClient(t, Config{VIM: "edge", Connection: vnfm.KubernetesConnection{
		Endpoint: server.URL, CACertificate: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
		Exec: &vnfm.ExecPlugin{Command: "cat", Args: []string{output}, APIVersion: execV1},
	}})
	for range 3 {
		for range 2 {
			_, err := c.Get(t.Context(), Ref{Resource: podResource, Namespace: "n", Name: "a"})
			require.NoError(t, err)
		}
		login()
	}
}

// TestExecEndsWithItsContext: a program that hangs is ended with the request, and its child process
// does not delay the end.
func TestExecEndsWithItsContext(t *testing.T) {
	t.Parallel()
	command := script(t, filepath.Join(t.TempDir(), "login"), "sleep 60\n")
	plugin := newExecPlugin(vnfm.ExecPlugin{Command: command, APIVersion: execV1}, nil)
	start := time.Now()
	_, err := plugin.current(within(t, 200*time.Millisecond))
	require.Error(t, err, "no error")
	if took := time.Since(start); took > 40*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestKubeconfigFile logs in with a kubeconfig that names files and programs in its folder. The
// kubeconfig is read again when its credentials are rejected.
func TestKubeconfigFile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		user string
		// renew replaces the file or the program that has the token.
		renew func(t *testing.T, dir, config string)
	}{
		"token": {"token: token-1", func(t *testing.T, dir, config string) {
			write(t, filepath.Join(dir, "config"), strings.Replace(config, "token-1", "token-2", 1))
		}},
		"token file": {"tokenFile: token", func(t *testing.T, dir, _ string) { write(t, filepath.Join(dir, "token"), "token-2") }},
		"program": {"exec: {command: ./login, apiVersion: " + execV1 + "}", func(t *testing.T, dir, _ string) {
			script(t, filepath.Join(dir, "login"), "echo '"+credential("token-2")+"'\n")
		}},
		"another program": {"exec: {command: ./login, apiVersion: " + execV1 + "}", func(t *testing.T, dir, config string) {
			script(t, filepath.Join(dir, "other"), "echo '"+credential("token-2")+"'\n")
			write(t, filepath.Join(dir, "config"), strings.Replace(config, "./login", "./other", 1))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, g := t.TempDir(), newGate(t, "token-1")
			write(t, filepath.Join(dir, "token"), "token-1")
			script(t, filepath.Join(dir, "login"), "echo '"+credential("token-1")+"'\n")
			config := strings.Replace(kubeconfigOf("", tc.user), "https://api.example.org:6443", g.URL, 1)
			path := write(t, filepath.Join(dir, "config"), config)
			c := newClient(t, Config{Peer: vnfm.Peer{Name: "the store", Settings: "its settings"}, Connection: vnfm.KubernetesConnection{KubeconfigPath: path}})
			require.NoError(t, g.read(t, c))
			g.accept("token-2")
			tc.renew(t, dir, config)
			require.NoError(t, g.read(t, c))
			g.accept("token-3")
			err := g.read(t, c)
			var refused *CredentialsError
			require.ErrorAs(t, err, &refused)
			mustSay(t, err, "the store at "+g.URL, fmt.Sprintf("the credentials of the kubeconfig %q", path), "or correct its settings, and apply again")
			// Credentials of another server are not sent to this one.
			g.accept("token-4")
			write(t, path, strings.NewReplacer("https://api.example.org:6443", "https://192.0.2.1:6443", "token-1", "token-4").Replace(kubeconfigOf("", "token: token-4")))
			require.ErrorContains(t, g.read(t, c), "it names another server now")
		})
	}
}

// TestKubeconfigOfAClusterIsReadAgain replaces the kubeconfig of a workload cluster on its management
// cluster while the client lives.
func TestKubeconfigOfAClusterIsReadAgain(t *testing.T) {
	t.Parallel()
	g := newGate(t, "token-1")
	config := func(token string) vnfm.Secret {
		return vnfm.Secret(strings.Replace(kubeconfigOf("", "token: "+token), "https://api.example.org:6443", g.URL, 1))
	}
	present, reads := config("token-1"), 0
	c := newClient(t, Config{VIM: "edge", Credentials: vnfm.Credentials{vnfm.CredentialKubeconfig: present}, Connection: vnfm.KubernetesConnection{
		KubeconfigRef: &vnfm.ClusterRef{VIMID: "m", Namespace: "clusters", Name: "edge"},
		Renew: func(context.Context) (vnfm.Secret, error) {
			reads++
			return present, nil
		},
	}})
	require.NoError(t, g.read(t, c))
	require.Zero(t, reads)
	g.accept("token-2")
	present = config("token-2")
	require.NoError(t, g.read(t, c))
	require.NoError(t, g.read(t, c))
	require.Equal(t, 1, reads)
	g.saw(t, "token-1", "token-2", "token-2")
	g.accept("token-3")
	err := g.read(t, c)
	var refused *CredentialsError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 2, reads)
	mustSay(t, err, "the kubeconfig of workload cluster clusters/edge on its management cluster", "they were read again")
	// Credentials of another server are not sent to this one.
	g.accept("token-4")
	present = vnfm.Secret(kubeconfigOf("", "token: token-4"))
	require.ErrorContains(t, g.read(t, c), "it names another server now")
}

// TestInCluster is a client inside a pod, whose token the kubelet replaces.
func TestInCluster(t *testing.T) {
	g := newGate(t, "token-1")
	at, err := url.Parse(g.URL)
	require.NoError(t, err)
	certificate, _ := newCertificate(t)
	folder := t.TempDir()
	cfg := Config{VIM: "edge", Connection: vnfm.KubernetesConnection{InCluster: true}, serviceAccount: folder}
	refused := func(says string) {
		t.Helper()
		_, err := New(cfg)
		var invalid *vnfm.InvalidError
		if !errors.As(err, &invalid) || len(invalid.Problems) != 1 || invalid.Problems[0].Attribute != "in_cluster" {
			t.Fatalf("got %v", err)
		}
		mustSay(t, err, says)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	refused("this process is not in a pod")
	t.Setenv("KUBERNETES_SERVICE_HOST", at.Hostname())
	t.Setenv("KUBERNETES_SERVICE_PORT", at.Port())
	refused("there is no such file")
	token := write(t, filepath.Join(folder, "token"), "token-1")
	refused("the CA file")
	write(t, filepath.Join(folder, "ca.crt"), certificate)
	c := newClient(t, cfg)
	if want := "https://" + at.Host; c.Endpoint() != want || c.config.CAFile != filepath.Join(folder, "ca.crt") {
		t.Errorf("endpoint %s, CA file %s", c.Endpoint(), c.config.CAFile)
	}
	// The server of this test speaks no TLS.
	cfg.Connection.Endpoint = g.URL
	c = newClient(t, cfg)
	for _, present := range []string{"token-1", "token-2"} {
		g.accept(present)
		write(t, token, present)
		require.NoError(t, g.read(t, c))
	}
}
