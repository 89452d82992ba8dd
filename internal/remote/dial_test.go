package remote_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// encrypted is a private key with a passphrase.
func encrypted(t *testing.T, passphrase string) (ssh.PublicKey, vnfm.Secret) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(key)
	require.NoError(t, err)
	return signer.PublicKey(), vnfm.Secret(pem.EncodeToMemory(block))
}

const anyKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQ"

func TestCheck(t *testing.T) {
	t.Parallel()
	_, locked := encrypted(t, "open")
	signer, private := sshtest.NewKey(t)
	for name, test := range map[string]struct {
		host remote.Host
		want string
	}{
		"good":               {host: remote.Host{Address: "fd00::1", User: "root", PrivateKey: private}},
		"good with all":      {host: remote.Host{Address: "a.example", User: "root", PrivateKey: locked, Passphrase: "open", HostKeys: []string{sshtest.Line(signer.PublicKey()) + " comment"}}},
		"no address":         {host: remote.Host{User: "root", Agent: true}, want: "is not the address of a host"},
		"address with user":  {host: remote.Host{Address: "root@a", User: "root", Agent: true}, want: `"root@a" is not the address`},
		"no user":            {host: remote.Host{Address: "a", Agent: true}, want: "host a: a user is missing"},
		"port":               {host: remote.Host{Address: "a", User: "u", Agent: true, Port: 70000}, want: "70000 is not a port"},
		"nothing to offer":   {host: remote.Host{Address: "a", User: "u"}, want: "neither a password nor a private key"},
		"no key":             {host: remote.Host{Address: "a", User: "u", PrivateKey: "AAAA"}, want: "the private key cannot be read"},
		"public key":         {host: remote.Host{Address: "a", User: "u", PrivateKey: vnfm.Secret(sshtest.Line(signer.PublicKey()))}, want: "the private key is a public key"},
		"PuTTY":              {host: remote.Host{Address: "a", User: "u", PrivateKey: "PuTTY-User-Key-File-3: ssh-ed25519"}, want: "export it as an OpenSSH key"},
		"locked":             {host: remote.Host{Address: "a", User: "u", PrivateKey: locked}, want: "give its passphrase"},
		"wrong passphrase":   {host: remote.Host{Address: "a", User: "u", PrivateKey: locked, Passphrase: "shut"}, want: "the passphrase does not open the private key"},
		"passphrase alone":   {host: remote.Host{Address: "a", User: "u", Password: "x", Passphrase: "shut"}, want: "without a private key"},
		"revoked host key":   {host: remote.Host{Address: "a", User: "u", Password: "x", HostKeys: []string{"@revoked " + anyKey}}, want: "revoked"},
		"revoked for hosts":  {host: remote.Host{Address: "a", User: "u", Password: "x", HostKeys: []string{"@revoked a,b " + anyKey}}, want: "revoked"},
		"key of a CA":        {host: remote.Host{Address: "a", User: "u", Password: "x", HostKeys: []string{"@cert-authority " + anyKey}}, want: "@cert-authority"},
		"CA as an option":    {host: remote.Host{Address: "a", User: "u", Password: "x", HostKeys: []string{"cert-authority " + anyKey}}, want: "cert-authority"},
		"bad host key":       {host: remote.Host{Address: "a", User: "u", Password: "x", HostKeys: []string{"ssh-ed25519 AAAA"}}, want: `"ssh-ed25519 AAAA" is not a host key`},
		"host keys one line": {host: remote.Host{Address: "a", User: "u", Password: "x", HostKeys: []string{sshtest.Line(signer.PublicKey()) + "\n" + sshtest.Line(signer.PublicKey())}}, want: "a host key is one line"},
		"jump host":          {host: remote.Host{Address: "a", User: "u", Password: "x", Jump: &remote.Host{Address: "b"}}, want: "jump host of a: host b: a user is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.host.Check()
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.want)
			_, dialed := remote.Dial(t.Context(), test.host, time.Hour)
			require.Equal(t, err, dialed)
		})
	}
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	public, locked := encrypted(t, "open")
	signer, private := sshtest.NewKey(t)
	for name, test := range map[string]struct {
		options sshtest.Options
		change  func(*remote.Host)
		want    string
	}{
		"password":       {},
		"interactive":    {options: sshtest.Options{Interactive: true}},
		"wrong password": {change: func(h *remote.Host) { h.Password = "wrong1" }, want: "the host does not accept the password of user root (tried: password"},
		"not by PAM":     {options: sshtest.Options{Interactive: true}, change: func(h *remote.Host) { h.Password = "wrong1" }, want: "does not accept the password of user root (tried: keyboard-interactive"},
		"wrong user":     {change: func(h *remote.Host) { h.User = "bob" }, want: "of user bob"},
		"key":            {options: sshtest.Options{Key: sshtest.Line(signer.PublicKey())}, change: func(h *remote.Host) { h.Password, h.PrivateKey = "", private }},
		"encrypted key": {options: sshtest.Options{Key: sshtest.Line(public)}, change: func(h *remote.Host) {
			h.Password, h.PrivateKey, h.Passphrase = "", locked, "open"
		}},
		"key refused, password not": {options: sshtest.Options{Key: sshtest.Line(signer.PublicKey())}, change: func(h *remote.Host) { h.PrivateKey, h.Passphrase = locked, "open" }},
		"wrong key": {options: sshtest.Options{Key: sshtest.Line(signer.PublicKey())}, change: func(h *remote.Host) {
			h.Password, h.PrivateKey, h.Passphrase = "", locked, "open"
		}, want: "the host does not accept the private key of user root (tried: publickey"},
		"closed": {options: sshtest.Options{Closed: true, Banner: "Authorised\nusers only"}, want: `it says "Authorised users only"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := sshtest.New(t, test.options).Host()
			if test.change != nil {
				test.change(&h)
			}
			c, err := remote.Dial(t.Context(), h, time.Hour)
			if test.want == "" {
				require.NoError(t, err)
				require.NoError(t, c.Close())
				return
			}
			require.ErrorContains(t, err, test.want)
			require.ErrorContains(t, err, "connecting to "+h.User+"@127.0.0.1:")
			require.NotContains(t, err.Error(), "wrong1")
		})
	}
}

func TestAgent(t *testing.T) {
	t.Setenv("SSH_AUTH_SOCK", "")
	signer, private := sshtest.NewKey(t)
	h := sshtest.New(t, sshtest.Options{Key: sshtest.Line(signer.PublicKey())}).Host()
	h.Password, h.Agent = "", true
	_, err := remote.Dial(t.Context(), h, time.Hour)
	require.ErrorContains(t, err, "SSH_AUTH_SOCK is not set")

	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	require.NoError(t, err)
	defer listener.Close()
	ring := agent.NewKeyring()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(ring, conn) }()
		}
	}()
	t.Setenv("SSH_AUTH_SOCK", socket)
	_, err = remote.Dial(t.Context(), h, time.Hour)
	require.ErrorContains(t, err, "it has no keys")

	key, err := ssh.ParseRawPrivateKey([]byte(private.Reveal()))
	require.NoError(t, err)
	require.NoError(t, ring.Add(agent.AddedKey{PrivateKey: key}))
	connect(t, h)
}

// TestAgentStalls is an agent that takes connections and says nothing.
func TestAgentStalls(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	require.NoError(t, err)
	defer listener.Close()
	t.Setenv("SSH_AUTH_SOCK", socket)
	h := sshtest.New(t, sshtest.Options{}).Host()
	h.Password, h.Agent = "", true

	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user has had enough")) })
	_, err = remote.Dial(ctx, h, 0)
	require.ErrorContains(t, err, "the user has had enough")

	defer remote.SetAgentTimeout(50 * time.Millisecond)()
	_, err = remote.Dial(t.Context(), h, 0)
	require.ErrorContains(t, err, "asking the SSH agent at SSH_AUTH_SOCK: it has not answered for 50ms")
}

// TestFloods is a host that repeats without end what it should send once.
func TestFloods(t *testing.T) {
	t.Parallel()
	h := sshtest.New(t, sshtest.Options{Banner: strings.Repeat("welcome ", 10_000), Closed: true}).Host()
	_, err := remote.Dial(t.Context(), h, 0)
	require.ErrorContains(t, err, "the host sends a banner of more than 65536 bytes")

	c := connect(t, sshtest.New(t, sshtest.Options{Statuses: 1000}).Host())
	for range 3 {
		_, err := c.Run(t.Context(), remote.Command{What: "x", Script: "echo said"})
		require.NoError(t, err)
	}
}

func TestJump(t *testing.T) {
	t.Parallel()
	far := sshtest.New(t, sshtest.Options{Address: "127.0.0.3"})
	middle := sshtest.New(t, sshtest.Options{Address: "127.0.0.2", User: "hop"})
	near := sshtest.New(t, sshtest.Options{})
	hop := middle.Host()
	first := near.Host()
	hop.Jump = &first
	h := far.Host()
	h.Jump = &hop
	c := connect(t, h)
	result, err := c.Run(t.Context(), remote.Command{What: "x", Script: "echo there"})
	require.NoError(t, err)
	assert.Equal(t, "there\n", result.Stdout)
	assert.Equal(t, []int{1, 1, 1}, []int{near.Logins(), middle.Logins(), far.Logins()})

	near.Cut()
	_, err = c.Run(t.Context(), remote.Command{What: "x", Script: "echo there"})
	var broken *remote.ConnectionError
	require.ErrorAs(t, err, &broken)

	hop.Password = "wrong"
	_, err = remote.Dial(t.Context(), h, time.Hour)
	require.ErrorContains(t, err, "jump host hop@127.0.0.2:")
	require.ErrorContains(t, err, "does not accept the password of user hop")
}

func TestJumpRefuses(t *testing.T) {
	t.Parallel()
	far, near := sshtest.New(t, sshtest.Options{}), sshtest.New(t, sshtest.Options{NoForwarding: true})
	h, jump := far.Host(), near.Host()
	h.Jump = &jump
	_, err := remote.Dial(t.Context(), h, time.Hour)
	require.ErrorContains(t, err, "sshd of the host forbids forwarding; set AllowTcpForwarding to yes or local in /etc/ssh/sshd_config there and reload sshd")

	// Nobody listens behind the jump host: it may boot yet.
	near = sshtest.New(t, sshtest.Options{})
	jump = near.Host()
	far.Stop()
	_, err = remote.Dial(t.Context(), h, 0)
	var unreached *remote.ConnectionError
	require.ErrorAs(t, err, &unreached)
}

func TestHostKeys(t *testing.T) {
	t.Parallel()
	ed, _ := sshtest.NewKey(t)
	other, _ := sshtest.NewKey(t)
	raw, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	rsaKey, err := ssh.NewSignerFromKey(raw)
	require.NoError(t, err)
	edLine, rsaLine, otherLine := sshtest.Line(ed.PublicKey()), sshtest.Line(rsaKey.PublicKey()), sshtest.Line(other.PublicKey())
	fingerprint := func(s ssh.Signer) string { return ssh.FingerprintSHA256(s.PublicKey()) }

	for name, test := range map[string]struct {
		has         []ssh.Signer
		given       []string
		pinned      string
		want        []string
		pinnedAfter string
	}{
		"first use":              {has: []ssh.Signer{rsaKey, ed}, pinnedAfter: edLine},
		"pinned":                 {has: []ssh.Signer{ed}, pinned: edLine, pinnedAfter: edLine},
		"pinned of several":      {has: []ssh.Signer{ed, rsaKey}, pinned: rsaLine, pinnedAfter: rsaLine},
		"changed":                {has: []ssh.Signer{other}, pinned: edLine, pinnedAfter: edLine, want: []string{"has changed", fingerprint(ed), fingerprint(other), "remove its pin"}},
		"changed kind":           {has: []ssh.Signer{rsaKey}, pinned: edLine, pinnedAfter: edLine, want: []string{"has changed", fingerprint(ed), "one of another kind", "rsa-sha2-512"}},
		"given":                  {has: []ssh.Signer{ed}, given: []string{rsaLine, edLine}},
		"given is not":           {has: []ssh.Signer{other}, given: []string{edLine}, want: []string{"as configured", fingerprint(ed), fingerprint(other), "correct its host keys"}},
		"given goes before pins": {has: []ssh.Signer{ed}, given: []string{otherLine}, pinned: edLine, pinnedAfter: edLine, want: []string{"as configured"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := sshtest.New(t, sshtest.Options{HostKeys: test.has}).Host()
			kept := &labtest.HostKeys{}
			h.HostKeys, h.Pins, h.PinName = test.given, kept, "edge-1"
			if test.pinned != "" {
				require.NoError(t, kept.Pin(t.Context(), "edge-1", test.pinned))
			}
			c, err := remote.Dial(t.Context(), h, time.Hour)
			assert.Equal(t, test.pinnedAfter, kept.Pinned("edge-1"))
			if len(test.want) == 0 {
				require.NoError(t, err)
				require.NoError(t, c.Close())
				return
			}
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}

	server := sshtest.New(t, sshtest.Options{})
	h := server.Host()
	known := h.HostKeys
	h.HostKeys, h.Pins, h.Strict = nil, &labtest.HostKeys{}, true
	_, err = remote.Dial(t.Context(), h, time.Hour)
	require.ErrorContains(t, err, "no key of it is known")
	require.ErrorContains(t, err, known[0])
	require.Zero(t, server.Logins())
	h.HostKeys = known
	c, err := remote.Dial(t.Context(), h, time.Hour)
	require.NoError(t, err)
	require.NoError(t, c.Close())
	h.HostKeys, h.Pins, h.Strict = nil, nil, false
	_, err = remote.Dial(t.Context(), h, time.Hour)
	require.ErrorContains(t, err, "give its host keys")
	h.Pins = &labtest.HostKeys{Refuse: errors.New("the disk is full")}
	_, err = remote.Dial(t.Context(), h, time.Hour)
	require.ErrorContains(t, err, "the disk is full")
	wrong := &labtest.HostKeys{}
	h.Pins, h.Password = wrong, "wrong"
	_, err = remote.Dial(t.Context(), h, time.Hour)
	require.Error(t, err)
	require.Zero(t, wrong.Len(), "a host that let nobody in is not pinned")
}

func TestPatience(t *testing.T) {
	t.Parallel()
	server := sshtest.New(t, sshtest.Options{})
	h := server.Host()
	server.Stop()
	began := time.Now()
	_, err := remote.Dial(t.Context(), h, 1200*time.Millisecond)
	var unreached *remote.ConnectionError
	require.ErrorAs(t, err, &unreached)
	require.ErrorContains(t, err, "it was tried for 1.2s")
	require.ErrorContains(t, err, "connection refused")
	assert.Greater(t, time.Since(began), 1200*time.Millisecond)

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(1200*time.Millisecond, cancel)
	_, err = remote.Dial(ctx, h, time.Hour)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "was stopped after 1s: context canceled; the last try: ")
	require.ErrorContains(t, err, "connection refused")

	_, err = remote.Dial(t.Context(), remote.Host{Address: "no-such-host.invalid", User: "root", Password: "x", HostKeys: h.HostKeys}, 0)
	require.ErrorContains(t, err, "no-such-host.invalid")
}

// TestBoot is a host that is down, then closes what it accepts, and then lets in.
func TestBoot(t *testing.T) {
	t.Parallel()
	server := sshtest.New(t, sshtest.Options{})
	server.Stop()
	server.Refuse(true)
	time.AfterFunc(700*time.Millisecond, func() { server.Start(t) })
	time.AfterFunc(1800*time.Millisecond, func() { server.Refuse(false) })
	c, err := remote.Dial(t.Context(), server.Host(), time.Minute)
	require.NoError(t, err)
	require.NoError(t, c.Close())

	booting := sshtest.New(t, sshtest.Options{Closed: true, Banner: `"System is booting up. Unprivileged users are not permitted to log in yet."`})
	_, err = remote.Dial(t.Context(), booting.Host(), time.Second)
	require.ErrorContains(t, err, "the host is starting or stopping")
	require.ErrorContains(t, err, "it was tried for 1s")
	require.ErrorContains(t, err, "booting up")
}
