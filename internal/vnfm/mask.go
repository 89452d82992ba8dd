package vnfm

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
)

const (
	// minMasked is the length below which a text is too common to be masked: a
	// log would lose every "a" to a password "a".
	minMasked = 4
	// minMaskedLine is the length from which a line of a secret of several lines
	// is masked by itself.
	minMaskedLine = 24
	// maxMasked is the length from which nobody quotes a secret as a whole.
	maxMasked = 64 << 10
)

// Mask takes secrets out of texts. It is safe for concurrent use, and a nil Mask knows no
// secrets.
type Mask struct {
	mu      sync.Mutex
	secrets map[string]bool
	// forms are those of the secrets, nil until they are needed.
	forms []string
}

// Add makes further secrets known.
func (m *Mask) Add(secrets ...string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range secrets {
		if !m.secrets[s] && len(s) >= minMasked && len(s) <= maxMasked {
			if m.secrets == nil {
				m.secrets = map[string]bool{}
			}
			m.secrets[s], m.forms = true, nil
		}
	}
}

// Hide returns a text with every form of every secret replaced.
func (m *Mask) Hide(text string) string {
	if m == nil || text == "" {
		return text
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.forms == nil {
		all := make([]string, 0, len(m.secrets))
		for s := range m.secrets {
			all = append(all, s)
		}
		m.forms = MaskedForms(all)
	}
	for _, form := range m.forms {
		text = strings.ReplaceAll(text, form, mask)
	}
	return text
}

// Error returns an error whose text has no secrets; one without secrets stays as it is.
func (m *Mask) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := m.Hide(text); clean != text {
		return &maskedError{text: clean, err: err}
	}
	return err
}

type maskedError struct {
	text string
	err  error
}

func (e *maskedError) Error() string { return e.text }

func (e *maskedError) Unwrap() error { return e.err }

// MaskedForms lists the forms in which secrets show up in texts: as they are, and as JSON,
// URLs and base64 carry them. The longest come first, so that no part of a secret survives
// the masking of another part.
func MaskedForms(secrets []string) []string {
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
		for _, text := range []string{s, trimmed} {
			add(text)
			if quoted, err := json.Marshal(text); err == nil {
				add(strings.Trim(string(quoted), `"`))
			}
			add(url.QueryEscape(text))
			add(url.PathEscape(text))
			if len(text) >= minMasked {
				// With and without the padding at the end.
				add(base64.RawStdEncoding.EncodeToString([]byte(text)))
				add(base64.StdEncoding.EncodeToString([]byte(text)))
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

type maskKey struct{}

// WithMask returns a context whose Mask hears of the secrets of the work that is done with
// it; that of ctx itself when it has one.
func WithMask(ctx context.Context) context.Context {
	if MaskOf(ctx) != nil {
		return ctx
	}
	return context.WithValue(ctx, maskKey{}, &Mask{})
}

// MaskOf is the Mask of a context; nil when it has none.
func MaskOf(ctx context.Context) *Mask {
	m, _ := ctx.Value(maskKey{}).(*Mask)
	return m
}

// Conceal makes secrets known to the Mask of a context, if it has one: whatever comes to
// know a secret for an operation says so, before it sends it anywhere.
func Conceal(ctx context.Context, secrets ...string) { MaskOf(ctx).Add(secrets...) }

// IsSecretName reports whether a value that goes by a name, whatever its spelling
// ("clientSecret", "ssh-private_key"), is a secret. Names of what leads to a secret, such as
// "secretName", are none.
func IsSecretName(name string) bool {
	plain := strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))
	return slices.ContainsFunc([]string{
		"password", "passwd", "passphrase", "secret", "token", "privatekey", "apikey", "accesskey", "secretkey", "clientkey", "keydata", "keyfilecontent", "encryptionkey",
		"kubeconfig", "credential", "credentials", "dockerconfigjson",
	}, func(end string) bool { return strings.HasSuffix(plain, end) })
}
