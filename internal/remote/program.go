package remote

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

// bootstrap is all that a command line on a host ever shows: a shell that reads a
// program, which is one line, from standard input. Any login shell can run it.
const bootstrap = `IFS= read -r program && eval "$(printf %b "$program")"`

// programMark begins the line of a program that follows a password.
const programMark = ":program:"

// markedBootstrap is bootstrap for a program that follows the password of sudo. Sudo may have taken the password or not: what
// it asked for when it was tried may be allowed without one by now. A line without the mark is the password, and is dropped.
const markedBootstrap = `IFS= read -r program || exit; case $program in ` + programMark + `*) ;; *) IFS= read -r program || exit ;; esac; eval "$(printf %b "${program#` + programMark + `}")"`

// commandLine is what the login shell is given.
const commandLine = "exec /bin/sh -c '" + bootstrap + "'"

const (
	// pulseInterval is the time between two signs of life that a command is sent.
	pulseInterval = 15 * time.Second
	// pulsePatience is how long a command lives on without one.
	pulsePatience = 90 * time.Second
)

//go:embed supervise.sh
var supervise string

// program is what the shell on the host runs for a script.
type program struct {
	script string
	args   []string
	env    map[string]string
	// size is how many bytes of standard input are the script's.
	size int64
}

var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// text is the program without what begins it.
func (p program) text() (string, error) {
	var script strings.Builder
	// Nothing of what runs the script is the script's.
	script.WriteString("unset program script\nunset -f look find end pulse\n")
	for _, name := range slices.Sorted(maps.Keys(p.env)) {
		if !variable.MatchString(name) {
			return "", fmt.Errorf("%q is not the name of an environment variable", name)
		}
		fmt.Fprintf(&script, "export %s=%s\n", name, quote(p.env[name]))
	}
	script.WriteString("set --")
	for _, arg := range p.args {
		script.WriteString(" " + quote(arg))
	}
	script.WriteString("\n" + p.script + "\n")
	if strings.ContainsRune(script.String(), 0) {
		return "", errors.New("a script, its arguments and its environment must not have a NUL byte")
	}
	return fmt.Sprintf("size=%d patience=%d\nscript=%s\n%s", p.size, int(pulsePatience.Seconds()), quote(script.String()), supervise), nil
}

// input is what begins the standard input of the command line: the program and, as root
// by sudo, before it the program that becomes root and the password that sudo asks for.
func (p program) input(root rootBy, password string) (string, error) {
	text, err := p.text()
	if err != nil {
		return "", err
	}
	switch root {
	case bySudo:
		return line(`exec sudo -H -k -n /bin/sh -c `+quote(bootstrap)+` sh "$$"`) + line(outerOfSudo+text), nil
	case bySudoPassword:
		return line(`exec sudo -H -k -S -p "" /bin/sh -c `+quote(markedBootstrap)+` sh "$$"`) + password + "\n" + programMark + line(outerOfSudo+text), nil
	default:
		return line("outer=$$\n" + text), nil
	}
}

// outerOfSudo is the process that became sudo.
const outerOfSudo = "outer=$1\n"

// quote makes one word of the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// line encodes a text for the bootstrap: a line of ASCII that printf %b decodes.
func line(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\\':
			b.WriteString(`\\`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\0%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "\n"
}
