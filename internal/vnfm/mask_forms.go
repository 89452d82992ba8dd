package vnfm

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

const (
	// minMaskedLine is the length from which a line of a secret of several lines
	// is masked by itself.
	minMaskedLine = 24
	// maxEncoded is the length from which nobody looks for the encodings of a secret.
	maxEncoded = 64 << 10
	// minEncoded is the least length of an encoded part of a secret.
	minEncoded = 4
)

var (
	number = lazyregexp.New(`^[-+]?[0-9]{1,15}(\.[0-9]{1,15})?([eE][-+]?[0-9]{1,3})?$`)
	// Of two values the mask of one tells which it is.
	booleans = []string{"true", "false", "yes", "no", "on", "off", "null", "none"}
)

// place is where a pattern is masked.
type place int

const (
	anywhere place = iota
	// wholeNumber is where it is not part of a longer number.
	wholeNumber
	// asValue is where it stands as a value.
	asValue
)

// pattern is a secret, or an encoding of it, that is looked for.
type pattern struct {
	text  string
	where place
	// wraps says that lines may break everywhere in it.
	wraps bool
	// least is how many characters of one that is cut off are enough to know it; 0 when it is
	// never cut off.
	least int
}

func newPattern(text string, wraps bool) *pattern {
	p, n := &pattern{text: text, where: anywhere, wraps: wraps}, utf8.RuneCountInString(text)
	switch {
	case n < minMasked:
		p.where = asValue
	case number.MatchString(text):
		p.where = wholeNumber
	default:
		p.least = max(minMasked, min(8, n/2))
	}
	return p
}

// firstBytes are those with which a text of the pattern can begin.
func (p *pattern) firstBytes() []byte {
	first, _ := utf8.DecodeRuneInString(p.text)
	out := []byte{p.text[0]}
	// Nobody escapes letters and digits.
	if first >= utf8.RuneSelf || !isWord(first) {
		out = append(out, `\%&'"$+{}`+"\n\r"...)
	}
	if first >= utf8.RuneSelf {
		// Of what is not UTF-8, others write a replacement.
		out = append(out, "\uFFFD"[0])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// patternsOf lists what is looked for.
func patternsOf(secrets []string) []*pattern {
	seen := map[string]bool{"": true}
	var out []*pattern
	add := func(text string, wraps bool) {
		if !seen[text] {
			seen[text] = true
			out = append(out, newPattern(text, wraps))
		}
	}
	for _, s := range secrets {
		trimmed := strings.TrimSpace(s)
		if slices.Contains(booleans, strings.ToLower(trimmed)) || trimmed == "" {
			continue
		}
		for _, text := range []string{s, trimmed} {
			add(text, false)
			for _, encoded := range encodings(text) {
				add(encoded, true)
			}
		}
		if !strings.Contains(trimmed, "\n") {
			continue
		}
		for line := range strings.Lines(trimmed) {
			line = strings.TrimSpace(line)
			if len(line) >= minMaskedLine && !strings.HasPrefix(line, "-----") {
				add(line, false)
			}
		}
	}
	return out
}

// encodings are a text in base64 and hexadecimal, and what base64 makes of it in the middle of
// another text, such as a user and his password.
func encodings(text string) []string {
	if len(text) > maxEncoded {
		return nil
	}
	var out []string
	if len(text) >= minMasked {
		lower := hex.EncodeToString([]byte(text))
		out = append(out, lower, strings.ToUpper(lower))
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		padded := encoding.EncodeToString([]byte(text))
		out = append(out, padded, strings.TrimRight(padded, "="))
		for shift := range 3 {
			// A character tells of six bits: those that have bits of others are left out.
			encoded := encoding.WithPadding(base64.NoPadding).EncodeToString(append(make([]byte, shift), text...))
			inner := encoded[(shift*8+5)/6 : (shift+len(text))*8/6]
			if len(inner) >= minEncoded && len(text) >= minMasked {
				out = append(out, inner)
			}
		}
	}
	return out
}

// loggedForms are the texts in which secrets show up, longest first so that no part of a
// secret survives the masking of another part.
func loggedForms(secrets []string) []string {
	seen := map[string]bool{}
	var forms []string
	add := func(form string) {
		if len(form) >= minMasked && !seen[form] && !slices.Contains(booleans, strings.ToLower(form)) {
			seen[form] = true
			forms = append(forms, form)
		}
	}
	for _, s := range secrets {
		for _, text := range []string{s, strings.TrimSpace(s)} {
			add(text)
			if quoted, err := json.Marshal(text); err == nil {
				// Without its quotes; the secret may end with one of its own.
				add(string(quoted[1 : len(quoted)-1]))
			}
			add(url.QueryEscape(text))
			add(url.PathEscape(text))
			if len(text) >= minMasked {
				add(base64.StdEncoding.EncodeToString([]byte(text)))
				add(base64.RawStdEncoding.EncodeToString([]byte(text)))
				add(base64.RawURLEncoding.EncodeToString([]byte(text)))
			}
		}
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
}
