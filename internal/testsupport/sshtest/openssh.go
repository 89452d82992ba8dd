package sshtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/nfv-iac/terraform-provider-vnf/internal/remote"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/labtest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/porttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Account is a user of a host of OpenSSH: root, or one that the machine has not.
type Account struct {
	User, Password string
	// Sudoers is what follows the user in /etc/sudoers, "ALL=(ALL:ALL) NOPASSWD: ALL".
	Sudoers string
}

// Daemon is a real sshd. Users, passwords and sudoers are its own, in a mount namespace:
// the machine's stay as they are.
type Daemon struct {
	// Log is what sshd says.
	Log *bytes.Buffer

	accounts []Account
	key      ssh.Signer
	port     int
}

// enter replaces files of the machine by those of the folder $1, and runs sshd.
const enter = `
set -e
for file in passwd shadow sudoers; do mount --bind "$1/$file" "/etc/$file"; done
mkdir -p /run/sshd /run/sudo /var/lib/sudo
for folder in /etc/sudoers.d /run/sudo /var/lib/sudo; do mount -t tmpfs none "$folder"; done
if [ "$2" ]; then mount --bind /dev/null "$(command -v sudo)"; fi
exec "$(command -v sshd)" -D -e -f "$1/sshd_config"
`

// OpenSSH starts sshd on 127.0.0.1 for the time of the test. It needs root, sshd, sudo
// and unshare; without them the test is skipped. Accounts that may not use sudo, on a host
// where none may, find it not installed.
func OpenSSH(t testing.TB, accounts ...Account) *Daemon {
	t.Helper()
	labtest.NotShort(t, "root and sshd")
	labtest.FullRun(t, "root and sshd")
	if os.Geteuid() != 0 {
		labtest.Missing(t, "OpenSSH: a test that is not root cannot start sshd for several users")
	}
	for _, program := range []string{"sshd", "sudo", "unshare", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			labtest.Missing(t, fmt.Sprintf("OpenSSH: %v", err))
		}
	}
	signer, private := NewKey(t)
	d := &Daemon{Log: &bytes.Buffer{}, accounts: accounts, key: signer, port: porttest.Free(t)}
	folder := t.TempDir()
	d.write(t, folder, private)
	hidden := "hidden"
	for _, a := range accounts {
		if a.Sudoers != "" {
			hidden = ""
		}
	}
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", enter, "sh", folder, hidden) //nolint:gosec,noctx // The folder is the test's, and it is ended below.
	cmd.Stdout, cmd.Stderr = d.Log, d.Log
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(10 * time.Second); ; {
		conn, err := net.Dial("tcp", d.address()) //nolint:noctx // It is there or it is not.
		if err == nil {
			_ = conn.Close()
			return d
		}
		select {
		case <-ended:
			labtest.Missing(t, "OpenSSH: sshd does not start: "+d.Log.String())
		case <-time.After(50 * time.Millisecond):
		}
		require.False(t, time.Now().After(deadline), "sshd does not listen: %v", err)
	}
}

func (d *Daemon) address() string { return fmt.Sprintf("127.0.0.1:%d", d.port) }

// Host is how a user reaches the host.
func (d *Daemon) Host(user string) remote.Host {
	h := remote.Host{Address: "127.0.0.1", Port: d.port, User: user, HostKeys: []string{Line(d.key.PublicKey())}}
	for _, a := range d.accounts {
		if a.User == user {
			h.Password = vnfm.Secret(a.Password)
		}
	}
	return h
}

// write writes what sshd reads.
func (d *Daemon) write(t testing.TB, folder string, private vnfm.Secret) {
	t.Helper()
	passwd, shadow := machine(t, "/etc/passwd"), machine(t, "/etc/shadow")
	sudoers := "Defaults env_reset, use_pty\nDefaults secure_path=\"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\"\n"
	for i, a := range d.accounts {
		hash := exec.Command("openssl", "passwd", "-6", "-stdin") //nolint:noctx // It takes no time.
		hash.Stdin = strings.NewReader(a.Password + "\n")
		out, err := hash.Output()
		require.NoError(t, err, "openssl passwd")
		if a.User != "root" {
			uid := 40000 + i
			passwd += fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\n", a.User, uid, uid, home(t, uid))
		}
		shadow = without(shadow, a.User) + fmt.Sprintf("%s:%s:19000:0:99999:7:::\n", a.User, bytes.TrimSpace(out))
		if a.Sudoers != "" {
			sudoers += a.User + " " + a.Sudoers + "\n"
		}
	}
	config := fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s/key\nPidFile none\nUsePAM yes\nPermitRootLogin yes\nSubsystem sftp internal-sftp\n", d.port, folder)
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"passwd": {passwd, 0o644}, "shadow": {shadow, 0o600}, "sudoers": {sudoers, 0o440}, "sshd_config": {config, 0o600},
		"key": {private.Reveal(), 0o600},
	} {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(file.text), file.mode))
	}
}

// machine reads a file of the machine.
func machine(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// without takes the line of a user out of a file such as shadow.
func without(file, user string) string {
	var out strings.Builder
	for line := range strings.Lines(file) {
		if !strings.HasPrefix(line, user+":") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// home makes the home of a user, where the user can go: the folders of a test are closed.
func home(t testing.TB, uid int) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "sshtest-home-") //nolint:usetesting // Its parent must be open to the user.
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	require.NoError(t, os.Chown(folder, uid, uid))
	return folder
}
