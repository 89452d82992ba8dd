package vnfm

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

const (
	// minMasked is the length below which a text is too common to be masked: a
	// log would lose every "a" to a password "a".
	minMasked = 4
	// minMaskedLine is the length from which a line of a secret of several lines
	// is masked by itself.
	minMaskedLine = 24
)

// Mask hides secrets in texts that came from another program and may repeat what was sent
// to it.
type Mask struct{ forms []string }

// NewMask returns a mask of secrets, as they are and as JSON, URLs and base64 carry
// them.
func NewMask(secrets ...string) Mask { return Mask{maskedForms(secrets)} }

// Forms are the texts that are hidden.
func (m Mask) Forms() []string { return m.forms }

// Hide returns the text with every secret replaced.
func (m Mask) Hide(text string) string {
	for _, f := range m.forms {
		text = strings.ReplaceAll(text, f, mask)
	}
	return text
}

// TextsIn are all texts in a value of maps and lists.
func TextsIn(value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for _, item := range value {
			out = append(out, TextsIn(item)...)
		}
	case []any:
		for _, item := range value {
			out = append(out, TextsIn(item)...)
		}
	case string:
		out = append(out, value)
	}
	return out
}

// maskedForms lists the forms in which a secret can show up, longest first so
// that no part of a secret survives the masking of another part.
func maskedForms(secrets []string) []string {
	seen := map[string]bool{}
	var forms []string
	add := func(form string) {
		if len(form) >= minMasked && !seen[form] {
			seen[form] = true
			forms = append(forms, form)
		}
	}
	for _, s := range secrets {
		trimmed := strings.TrimSpace(s)
		add(s)
		add(trimmed)
		for _, text := range []string{s, trimmed} {
			if quoted, err := json.Marshal(text); err == nil {
				add(strings.Trim(string(quoted), `"`))
			}
			add(url.QueryEscape(text))
			add(url.PathEscape(text))
			if len(text) >= minMasked {
				// With and without the padding at the end.
				add(base64.StdEncoding.EncodeToString([]byte(text)))
				add(base64.RawStdEncoding.EncodeToString([]byte(text)))
				add(base64.RawURLEncoding.EncodeToString([]byte(text)))
			}
		}
		if !strings.Contains(trimmed, "\n") {
			continue
		}
		for line := range strings.Lines(trimmed) {
			line = strings.TrimSpace(line)
			if len(line) >= minMaskedLine && !strings.HasPrefix(line, "-----") {
				add(line)
			}
		}
	}
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return forms
}
