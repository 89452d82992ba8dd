// Package sshtest is hosts that are reached over SSH, for tests. A Server lives in the
// process of the test and runs commands with the shell of the machine; it can be cut,
// refuse and fall silent as no real one can be made to. OpenSSH is the real server.
package sshtest

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/subtle"
	"encoding/pem"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Options are what a server may be told. All have defaults.
type Options struct {
	// Address is 127.0.0.1 when it is empty; on Linux any 127.0.0.x will do, so that
	// several servers can have the same port.
	Address string
	// Port is a free one when it is 0.
	Port int
	// User is "root" when it is empty. Commands run as the user of the test.
	User string
	// Password is "secret of <user>" when it is empty, Key the public key that is
	// accepted as well, a line of authorized_keys.
	Password, Key string
	// Interactive asks for the password as PAM does, and in no other way.
	Interactive bool
	// HostKeys are the server's; one of Ed25519 is made when there are none.
	HostKeys []ssh.Signer
	// Banner is sent before the login, Closed lets nobody in.
	Banner string
	Closed bool
	// Statuses is the number of exit statuses that are sent for a command, 1 when it is 0.
	Statuses int
	// NoForwarding refuses to be a jump host.
	NoForwarding bool
	// Shell runs the command line, which is appended; "/bin/sh", "-c" when it is empty.
	Shell []string
	// Env is added to the environment of commands, "NAME=value".
	Env []string
}

// Server is an SSH server in the process of the test.
type Server struct {
	options  Options
	listener net.Listener

	mu       sync.Mutex
	conns    map[*conn]bool
	commands []string
	logins   int
	refuse   bool
	// processes are those of commands that run.
	processes map[*os.Process]bool
	// closing waits for what runs.
	closing sync.WaitGroup
}

// endPatience is how long a command may live on after its connection.
const endPatience = 10 * time.Second

// New starts a server, which ends with the test together with all that it has started.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	o.Address = cmp.Or(o.Address, "127.0.0.1")
	o.User = cmp.Or(o.User, "root")
	o.Password = cmp.Or(o.Password, "secret of "+o.User)
	if len(o.HostKeys) == 0 {
		signer, _ := NewKey(t)
		o.HostKeys = []ssh.Signer{signer}
	}
	if len(o.Shell) == 0 {
		o.Shell = []string{"/bin/sh", "-c"}
	}
	s := &Server{options: o, conns: map[*conn]bool{}, processes: map[*os.Process]bool{}}
	s.listen(t)
	// The directories of the test are removed once the processes of the server have ended: the first call decides when, and
	// cleanups run in reverse order.
	_ = t.TempDir()
	t.Cleanup(func() {
		s.Stop()
		late := time.AfterFunc(endPatience, s.killAll)
		defer late.Stop()
		s.closing.Wait()
	})
	return s
}

// NewKey makes a key of Ed25519, for a host or a user, and its private form in PEM.
func NewKey(t testing.TB) (ssh.Signer, vnfm.Secret) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	return signer, vnfm.Secret(pem.EncodeToMemory(block))
}

// Line is a public key as a line of authorized_keys.
func Line(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func (s *Server) listen(t testing.TB) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(s.options.Address, strconv.Itoa(s.options.Port)))
	require.NoError(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listener = listener
	if address, ok := listener.Addr().(*net.TCPAddr); ok && s.options.Port == 0 {
		s.options.Port = address.Port
	}
	s.closing.Go(func() {
		for {
			accepted, err := listener.Accept()
			if err != nil {
				return
			}
			s.closing.Go(func() { s.serve(accepted) })
		}
	})
}

// Stop ends the server as a host that goes down: connections are cut, and new ones
// refused by the machine until Start.
func (s *Server) Stop() {
	s.mu.Lock()
	_ = s.listener.Close()
	s.mu.Unlock()
	s.Cut()
}

// Start ends what Stop began, at the same address.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.listen(t)
}

// Host is how the server is reached, by password, with its host keys.
func (s *Server) Host() remote.Host {
	h := remote.Host{Address: s.options.Address, Port: s.options.Port, User: s.options.User, Password: vnfm.Secret(s.options.Password)}
	for _, key := range s.options.HostKeys {
		h.HostKeys = append(h.HostKeys, Line(key.PublicKey()))
	}
	return h
}

// SetHostKey gives the server another host key, as an installation of its system does.
func (s *Server) SetHostKey(key ssh.Signer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.HostKeys = []ssh.Signer{key}
}

// Commands are the command lines that were run.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

// Logins counts those who were let in.
func (s *Server) Logins() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins
}

// Refuse closes new connections before the handshake, as a host that boots does.
func (s *Server) Refuse(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = on
}

// Cut cuts all connections. Running commands see the end of their input, and nothing else.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.cut()
	}
}

// Swallow has the connections that are there fall silent in both ways, as those of a
// host whose power is gone.
func (s *Server) Swallow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.swallow()
	}
}

// config says who is let in.
func (s *Server) config() *ssh.ServerConfig {
	config := &ssh.ServerConfig{MaxAuthTries: 20}
	verdict := func(ok bool) (*ssh.Permissions, error) {
		if !ok || s.options.Closed {
			return nil, errDenied
		}
		return &ssh.Permissions{}, nil
	}
	right := func(user string, password []byte) bool {
		return user == s.options.User && subtle.ConstantTimeCompare(password, []byte(s.options.Password)) == 1
	}
	if s.options.Interactive {
		config.KeyboardInteractiveCallback = func(meta ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			answers, err := ask("", "", []string{"Password: "}, []bool{false})
			if err != nil {
				return nil, err
			}
			return verdict(right(meta.User(), []byte(answers[0])))
		}
	} else {
		config.PasswordCallback = func(meta ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			return verdict(right(meta.User(), password))
		}
		// sshd without PAM offers questions and asks none.
		config.KeyboardInteractiveCallback = func(ssh.ConnMetadata, ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			return nil, errDenied
		}
	}
	if s.options.Key != "" {
		config.PublicKeyCallback = func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			return verdict(meta.User() == s.options.User && Line(key) == s.options.Key)
		}
	}
	if s.options.Banner != "" {
		config.BannerCallback = func(ssh.ConnMetadata) string { return s.options.Banner }
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range s.options.HostKeys {
		config.AddHostKey(key)
	}
	return config
}
