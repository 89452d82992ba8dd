package vnfm

import (
	"strings"
)

// minMasked is the number of characters from which a secret is masked wherever it stands. A
// shorter one is masked where it stands as a value: a log would lose every "a" to a password
// "a".
const minMasked = 4

// Mask hides secrets in texts that came from another program and may repeat what was sent
// to it.
type Mask struct {
	patterns []*pattern
	// starts are the patterns that can begin with a byte of a text.
	starts  [256][]*pattern
	secrets []string
}

// NewMask returns a mask of secrets, in whatever way a text quotes them: escaped for JSON,
// YAML, HTML, URLs, shells and the languages of programs, in base64 and hexadecimal, also
// inside of what is encoded as a whole, over several lines, and cut off.
func NewMask(secrets ...string) *Mask {
	m := &Mask{patterns: patternsOf(secrets), secrets: secrets}
	for _, p := range m.patterns {
		for _, b := range p.firstBytes() {
			m.starts[b] = append(m.starts[b], p)
		}
	}
	return m
}

// Empty reports whether the mask hides nothing.
func (m *Mask) Empty() bool { return len(m.patterns) == 0 }

// Forms are the usual texts in which secrets show up, for filters that know texts alone.
func (m *Mask) Forms() []string { return loggedForms(m.secrets) }

// Hide returns the text with every secret replaced, also those that are cut off.
func (m *Mask) Hide(text string) string {
	hidden, _ := m.hide(text, len(text), true)
	return hidden
}

// HidePart replaces the whole secrets that begin in the first n bytes of a text, and returns
// what is before the end of these bytes or of the last secret, and the rest as it is.
func (m *Mask) HidePart(text string, n int) (part, rest string) {
	part, done := m.hide(text, n, false)
	return part, text[done:]
}

func (m *Mask) hide(text string, n int, cut bool) (string, int) {
	if m.Empty() {
		return text[:n], n
	}
	var out strings.Builder
	done := 0
	for i := 0; i < n; {
		end := m.matchAt(text, i, cut)
		if end <= i {
			i++
			continue
		}
		out.WriteString(text[done:i])
		out.WriteString(mask)
		i, done = end, end
	}
	if done < n {
		out.WriteString(text[done:n])
		done = n
	}
	return out.String(), done
}

// matchAt returns where the longest secret ends that begins at a place of a text; 0 when none
// does.
func (m *Mask) matchAt(text string, at int, cut bool) int {
	end := 0
	for _, p := range m.starts[text[at]] {
		end = max(end, p.match(text, at, 0, cut))
	}
	if cut && afterCut(text, at) {
		for _, p := range m.patterns {
			end = max(end, p.matchRest(text, at))
		}
	}
	return end
}
