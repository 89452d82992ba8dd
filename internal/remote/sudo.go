package remote

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// rootBy is how a command becomes root.
type rootBy int

const (
	// direct is as the user who is connected.
	direct rootBy = iota
	bySudo
	bySudoPassword
)

// sudoers remembers how the user becomes root.
type sudoers struct {
	mu    sync.Mutex
	known bool
	by    rootBy
}

// sudoError says why the user does not become root.
type sudoError struct{ text string }

func (e *sudoError) Error() string { return e.text }

// The answers of sudoProbe.
const (
	probedRoot     = "root"
	probedFree     = "free"
	probedPassword = "password"
)

// sudoProbe finds out how the user becomes root. The password is its standard input, and
// is given to nothing but sudo.
const sudoProbe = `
if [ "$(id -u)" = 0 ]; then echo root; exit; fi
command -v sudo >/dev/null 2>&1 || { echo "sudo is not installed" >&2; exit 1; }
export LC_ALL=C
if answer=$(sudo -H -k -n /bin/sh -c : 2>&1 </dev/null); then echo free; exit; fi
case $answer in *"password is required"*|*"password required"*) ;; *) echo "$answer" >&2; exit 1 ;; esac
IFS= read -r password || { echo "$answer" >&2; exit 1; }
if answer=$(printf "%s\n" "$password" | sudo -H -k -S -p "" /bin/sh -c : 2>&1); then echo password; exit; fi
echo "$answer" >&2
exit 1
`

// root finds out how the user becomes root, once.
func (c *Client) root(ctx context.Context) (rootBy, error) {
	c.sudoers.mu.Lock()
	defer c.sudoers.mu.Unlock()
	if c.sudoers.known {
		return c.sudoers.by, nil
	}
	password := c.sudoPassword()
	if strings.ContainsAny(password, "\n\x00") {
		return direct, &sudoError{"the password for sudo has a line break or a NUL byte, which sudo cannot read"}
	}
	input := ""
	if password != "" {
		input = password + "\n"
	}
	begin, err := program{script: sudoProbe, size: int64(len(input))}.input(direct, "")
	if err != nil {
		return direct, err
	}
	var stdout, stderr strings.Builder
	status, err := c.execute(ctx, execution{begin: begin, content: strings.NewReader(input), stdout: &stdout, stderr: &stderr})
	if err != nil {
		return direct, err
	}
	// A login shell may have said something before.
	answer := lastLines(stdout.String(), 1)
	switch {
	case status == 0 && answer == probedRoot:
		c.sudoers.by = direct
	case status == 0 && answer == probedFree:
		c.sudoers.by = bySudo
	case status == 0 && answer == probedPassword:
		c.sudoers.by = bySudoPassword
	default:
		return direct, &sudoError{c.whyNotRoot(c.mask().hide(stderr.String()), password != "")}
	}
	c.sudoers.known = true
	return c.sudoers.by, nil
}

// whyNotRoot tells a person what sudo said, and what to do.
func (c *Client) whyNotRoot(answer string, password bool) string {
	user := c.host.User
	answer = strings.TrimSpace(lastLines(answer, errorLines))
	switch {
	case strings.Contains(answer, "sudo is not installed"):
		return fmt.Sprintf("user %s is not root and sudo is not installed: install sudo, or connect as root", user)
	case strings.Contains(answer, "not in the sudoers file"), strings.Contains(answer, "is not allowed to"),
		strings.Contains(answer, "may not run sudo"), strings.Contains(answer, "I'm sorry "+user):
		return fmt.Sprintf("user %s may not use sudo on the host (%q): allow it in /etc/sudoers.d, or connect as another user", user, answer)
	case strings.Contains(answer, "must have a tty"):
		return fmt.Sprintf("sudo requires a terminal (%q): remove requiretty for user %s from /etc/sudoers", answer, user)
	case strings.Contains(answer, "incorrect password"), strings.Contains(answer, "try again"), strings.Contains(answer, "incorrect authentication"):
		return fmt.Sprintf("sudo does not accept the password of user %s (%q): sudo may want another password than the login", user, answer)
	case strings.Contains(answer, "password is required"), strings.Contains(answer, "password required"):
		if !password {
			return fmt.Sprintf("sudo asks user %s for a password and none is given: give the password, or allow NOPASSWD in /etc/sudoers.d", user)
		}
		return fmt.Sprintf("sudo asks user %s for more than the password (%q)", user, answer)
	default:
		return fmt.Sprintf("user %s does not become root: sudo says %q", user, answer)
	}
}

// sudoPassword is the input of sudo, empty when there is none.
func (c *Client) sudoPassword() string {
	if c.host.SudoPassword != "" {
		return c.host.SudoPassword.Reveal()
	}
	return c.host.Password.Reveal()
}
