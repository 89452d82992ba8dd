package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// agentTimeout is how long an agent may take to name its keys. Tests make it shorter.
var agentTimeout = 5 * time.Second

// signer parses the private key.
func (h Host) signer() (ssh.Signer, error) {
	key := []byte(h.PrivateKey.Reveal())
	signer, err := ssh.ParsePrivateKey(key)
	if err == nil {
		// A passphrase that is not needed does no harm.
		return signer, nil
	}
	var encrypted *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &encrypted) && h.Passphrase == "":
		return nil, errors.New("the private key is encrypted: give its passphrase")
	case errors.As(err, &encrypted):
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(key, []byte(h.Passphrase.Reveal())); err != nil {
			return nil, errors.New("the passphrase does not open the private key")
		}
		return signer, nil
	case strings.HasPrefix(strings.TrimSpace(string(key)), "PuTTY-User-Key-File"):
		return nil, errors.New("the private key is in PuTTY's format: export it as an OpenSSH key")
	}
	if _, _, _, _, public := ssh.ParseAuthorizedKey(key); public == nil {
		return nil, errors.New("the private key is a public key")
	}
	// The parser's error may quote the key.
	return nil, errors.New("the private key cannot be read: it must be PEM, of OpenSSH or PKCS")
}

// authentication returns what the host is offered, and what ends it.
func (h Host) authentication(ctx context.Context) ([]ssh.AuthMethod, func(), error) {
	var signers []ssh.Signer
	done := func() {}
	if h.PrivateKey != "" {
		signer, err := h.signer()
		if err != nil {
			return nil, done, err
		}
		signers = append(signers, signer)
	}
	if h.Agent {
		keys, end, err := agentKeys(ctx)
		if err != nil {
			return nil, done, err
		}
		signers, done = append(signers, keys...), end
	}
	var methods []ssh.AuthMethod
	if len(signers) > 0 {
		methods = append(methods, ssh.PublicKeys(signers...))
	}
	if h.Password != "" {
		methods = append(methods, ssh.Password(h.Password.Reveal()), ssh.KeyboardInteractive(h.answer))
	}
	return methods, done, nil
}

// agentKeys are those of the agent. They sign until it is ended, the context ends or a login must be over: an agent that
// does not answer must not hold up more than that.
func agentKeys(ctx context.Context) ([]ssh.Signer, func(), error) {
	socket := os.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return nil, nil, errors.New("there is no SSH agent: SSH_AUTH_SOCK is not set")
	}
	conn, err := (&net.Dialer{Timeout: agentTimeout}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, nil, fmt.Errorf("asking the SSH agent at SSH_AUTH_SOCK: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	end := func() {
		stop()
		_ = conn.Close()
	}
	began := time.Now()
	err = conn.SetDeadline(began.Add(agentTimeout))
	var signers []ssh.Signer
	if err == nil {
		signers, err = agent.NewClient(conn).Signers()
	}
	if err == nil && len(signers) == 0 {
		err = errors.New("it has no keys: add one by ssh-add")
	}
	if err == nil {
		err = conn.SetDeadline(time.Now().Add(connectTimeout + handshakeTimeout))
	}
	// The library hides the cause of its error.
	if err != nil && time.Since(began) >= agentTimeout {
		err = fmt.Errorf("it has not answered for %s", agentTimeout)
	}
	if err != nil {
		end()
		return nil, nil, fmt.Errorf("asking the SSH agent at SSH_AUTH_SOCK: %w", err)
	}
	return signers, end, nil
}

// answer answers a host that asks for the password in its own words. Anything else it
// asks for is beyond a program.
func (h Host) answer(_, _ string, questions []string, echos []bool) ([]string, error) {
	answers := make([]string, len(questions))
	for i, question := range questions {
		if echos[i] || strings.Contains(strings.ToLower(question), "new") || len(questions) > 1 {
			return nil, fmt.Errorf("the host asks user %s for %q, but only a password can be given; the password may have expired", h.User, strings.TrimSpace(question))
		}
		answers[i] = h.Password.Reveal()
	}
	return answers, nil
}
