package remote_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/sshtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// accounts are all the ways to become root, or not.
var accounts = []sshtest.Account{
	{User: "root", Password: "rootpass1"},
	{User: "free", Password: "freepass1", Sudoers: "ALL=(ALL:ALL) NOPASSWD: ALL"},
	{User: "asked", Password: "askedpass1", Sudoers: "ALL=(ALL:ALL) ALL"},
	{User: "nobodys", Password: "nobodyspass1"},
	{User: "narrow", Password: "narrowpass1", Sudoers: "ALL=(ALL:ALL) NOPASSWD: /bin/true"},
}

func TestSudo(t *testing.T) {
	t.Parallel()
	daemon := sshtest.OpenSSH(t, accounts...)
	for user, test := range map[string]struct {
		change func(*remote.Host)
		want   string
	}{
		"root":             {},
		"free":             {},
		"asked":            {},
		"asked otherwise":  {change: func(h *remote.Host) { h.User, h.SudoPassword = "asked", "wrongpass1" }, want: "sudo does not accept the password of user asked"},
		"asked, with none": {change: func(h *remote.Host) { h.User, h.SudoPassword = "asked", "two\nlines" }, want: "line break"},
		"nobodys":          {want: "user nobodys may not use sudo"},
		"narrow":           {want: "user narrow may not use sudo"},
	} {
		t.Run(user, func(t *testing.T) {
			t.Parallel()
			h := daemon.Host(user)
			if test.change != nil {
				test.change(&h)
				h.Password = daemon.Host(h.User).Password
			}
			c := connect(t, h)
			for _, input := range []string{"the input\n", ""} {
				result, err := c.Run(t.Context(), remote.Command{
					What: "being root", Sudo: true, Env: map[string]string{"A": "b"}, Args: []string{"c"}, Stdin: strings.NewReader(input),
					Script: `id -u; echo "$HOME"; echo "$A$1"; echo err >&2; cat`,
				})
				if test.want != "" {
					require.ErrorContains(t, err, test.want)
					require.ErrorContains(t, err, "being root on "+c.Name())
					require.NotContains(t, err.Error(), "pass1")
					return
				}
				require.NoError(t, err)
				// A password that sudo does not ask for reaches nobody.
				assert.Equal(t, remote.Result{Stdout: "0\n/root\nbc\n" + input, Stderr: "err\n"}, result)
			}
			_, err := c.Run(t.Context(), remote.Command{What: "x", Sudo: true, Script: "exit 9"})
			var failed *remote.StatusError
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, 9, failed.Status)
		})
	}
}

func TestSudoMissing(t *testing.T) {
	t.Parallel()
	daemon := sshtest.OpenSSH(t, sshtest.Account{User: "root", Password: "rootpass1"}, sshtest.Account{User: "bob", Password: "bobpass1"})
	_, err := connect(t, daemon.Host("bob")).Run(t.Context(), remote.Command{What: "x", Sudo: true, Script: "id"})
	require.ErrorContains(t, err, "user bob is not root and sudo is not installed")
	result, err := connect(t, daemon.Host("root")).Run(t.Context(), remote.Command{What: "x", Sudo: true, Script: "id -u"})
	require.NoError(t, err)
	assert.Equal(t, "0\n", result.Stdout)
}

// TestSudoNoPassword is a user with a key, whom sudo asks for a password.
func TestSudoNoPassword(t *testing.T) {
	t.Parallel()
	daemon := sshtest.OpenSSH(t, accounts...)
	h := daemon.Host("asked")
	signer, private := sshtest.NewKey(t)
	_, err := connect(t, h).WriteFile(t.Context(), remote.File{Path: ".ssh/authorized_keys", Content: []byte(sshtest.Line(signer.PublicKey()) + "\n"), MkdirAll: true})
	require.NoError(t, err)
	h.Password, h.PrivateKey = "", private
	_, err = connect(t, h).Run(t.Context(), remote.Command{What: "x", Sudo: true, Script: "id"})
	require.ErrorContains(t, err, "none is given")
	h.SudoPassword = daemon.Host("asked").Password
	result, err := connect(t, h).Run(t.Context(), remote.Command{What: "x", Sudo: true, Script: "id -u"})
	require.NoError(t, err)
	assert.Equal(t, "0\n", result.Stdout)
}

// TestOpenSSHKills is what runs on a real host when it gets a signal, and when the
// connection is cut.
func TestOpenSSHKills(t *testing.T) {
	t.Parallel()
	daemon := sshtest.OpenSSH(t, accounts...)
	for name, test := range map[string]struct {
		user string
		sudo bool
	}{
		"root": {user: "root"}, "user": {user: "asked"}, "sudo": {user: "free", sudo: true}, "sudo with password": {user: "asked", sudo: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := connect(t, daemon.Host(test.user))
			ctx, cancel := context.WithCancel(t.Context())
			file, err := runProcesses(ctx, t, c, remote.Command{Sudo: test.sudo}, cancel)
			require.ErrorIs(t, err, context.Canceled)
			requireGone(t, file)
			_, err = c.Run(t.Context(), remote.Command{What: "x", Script: "true", Sudo: test.sudo})
			require.NoError(t, err)
			file, err = runProcesses(t.Context(), t, c, remote.Command{Sudo: test.sudo}, func() { _ = c.Close() })
			require.Error(t, err)
			requireGone(t, file)
		})
	}
}

func TestOpenSSHEnds(t *testing.T) {
	t.Parallel()
	daemon := sshtest.OpenSSH(t, accounts...)
	c := connect(t, daemon.Host("root"))
	// The supervisor of the script is killed as by an administrator.
	_, err := c.Run(t.Context(), remote.Command{What: "x", Script: "kill -KILL $$; sleep 5"})
	var failed *remote.StatusError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, 137, failed.Status)

	began := time.Now()
	_, err = c.Run(t.Context(), remote.Command{What: "x", Script: "sleep 60 & exit 0"})
	require.NoError(t, err)
	assert.Less(t, time.Since(began), time.Minute, "what runs in the background is not waited for")

	h := daemon.Host("root")
	h.Password = "wrong"
	_, err = remote.Dial(t.Context(), h, time.Hour)
	require.ErrorContains(t, err, "the host does not accept the password of user root (tried: password")

	// More at once than sshd opens sessions.
	c = connect(t, daemon.Host("free"))
	err = remote.Each(t.Context(), 30, make([]int, 30), func(ctx context.Context, _ int) error {
		result, err := c.Run(ctx, remote.Command{What: "x", Script: "sleep 0.2; echo done", Secrets: []vnfm.Secret{"none"}})
		if err == nil && result.Stdout != "done\n" {
			err = errors.New(result.Stdout)
		}
		return err
	})
	require.NoError(t, err)
}
