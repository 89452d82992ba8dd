package remote

import (
	"bytes"
	"strings"
	"sync"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// tailSize is how much of the end of stdout, and of stderr, is kept.
	tailSize = 64 << 10
	// lineSize is where a line is broken that does not end.
	lineSize = 16 << 10
)

// mask takes secrets out of a text.
type mask struct {
	secrets *vnfm.Mask
	// longest is the length of the longest secret.
	longest int
}

// newMask returns a mask for secrets; of those with several lines, such as keys, it hides
// each line too, since a host says one line after the other.
func newMask(secrets ...vnfm.Secret) mask {
	var all []string
	m := mask{}
	for _, secret := range secrets {
		all = append(all, secret.Reveal())
		for word := range strings.Lines(secret.Reveal()) {
			if word = strings.TrimSpace(word); !strings.HasPrefix(word, "-----") {
				all = append(all, word)
				m.longest = max(m.longest, len(word))
			}
		}
	}
	m.secrets = vnfm.NewMask(all...)
	return m
}

func (m mask) hide(s string) string { return m.secrets.Hide(s) }

// lines keeps the end of a stream as it is, and hands on its lines without secrets.
type lines struct {
	mask mask
	// each gets a line, unless decode takes it; both may be nil. shared keeps two streams apart.
	each    func(string)
	decode  func(string) bool
	shared  *sync.Mutex
	pending []byte
	kept    []byte
}

// Write implements io.Writer. It does not fail.
func (l *lines) Write(p []byte) (int, error) {
	l.shared.Lock()
	defer l.shared.Unlock()
	l.keep(p)
	if l.each == nil && l.decode == nil {
		return len(p), nil
	}
	l.pending = append(l.pending, p...)
	for {
		at := bytes.IndexAny(l.pending, "\r\n")
		switch {
		case at >= 0:
			l.take(at)
		case len(l.pending) > lineSize:
			l.split()
		default:
			return len(p), nil
		}
	}
}

// take ends the line at an index, where its end stands.
func (l *lines) take(at int) {
	line := string(l.pending[:at])
	l.pending = l.pending[min(at+1, len(l.pending)):]
	if l.decode != nil && l.decode(line) {
		return
	}
	text, _ := l.mask.secrets.HidePart(line, len(line))
	l.say(text)
}

func (l *lines) say(text string) {
	if text != "" && l.each != nil {
		l.each(text)
	}
}

// split breaks a line without an end, so that no secret is broken with it.
func (l *lines) split() {
	text, rest := l.mask.secrets.HidePart(string(l.pending), max(len(l.pending)-l.mask.longest, 0))
	l.pending = []byte(rest)
	l.say(text)
}

// keep adds to what is kept, and forgets the beginning when it is too much.
func (l *lines) keep(text []byte) {
	l.kept = append(l.kept, text...)
	if excess := len(l.kept) - tailSize; excess > 0 {
		l.kept = append(l.kept[:0], l.kept[excess:]...)
	}
}

// close takes what is left as a line, and returns what was kept.
func (l *lines) close() string {
	l.shared.Lock()
	defer l.shared.Unlock()
	if len(l.pending) > 0 {
		l.take(len(l.pending))
	}
	return strings.ToValidUTF8(string(l.kept), "�")
}

// lastLines are the last lines of a text, at most n.
func lastLines(text string, n int) string {
	all := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(all[max(len(all)-n, 0):], "\n")
}
