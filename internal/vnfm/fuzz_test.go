package vnfm_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzMask hides a secret in a text, and in itself as others write it: nothing panics, and
// nothing of the secret is left in a form of it.
func FuzzMask(f *testing.F) {
	f.Add("planted-secret", `{"password":"planted-secret"}...`)
	f.Add(`a\"b'c%25d&amp;e+f g`, "a\\\\\"")
	f.Add("first line\n\tsecond \\\\ line\r\n", "first line\\n")
	f.Add("\xff\xfe\x00пароль🔑", "%F0%9F")
	f.Add("12345", "x=12345.")
	f.Add(`d\"00d\"`, "a quote at the end")
	f.Fuzz(func(t *testing.T, secret, text string) {
		if got := hide(text, secret); len(got) > len(text)*len("(sensitive)") {
			t.Errorf("%q becomes %q", text, got)
		}
		if !utf8.ValidString(secret) || len(secret) > 1000 || utf8.RuneCountInString(strings.TrimSpace(secret)) < 8 || !strings.ContainsFunc(secret, func(r rune) bool { return r >= 'a' && r <= 'z' }) {
			return
		}
		quoted, err := json.Marshal(secret)
		require.NoError(t, err)
		twice, err := json.Marshal(string(quoted))
		require.NoError(t, err)
		for name, form := range map[string]string{
			"plain": secret, "json": string(quoted[1 : len(quoted)-1]), "json twice": string(twice), "go": strconv.Quote(secret), "ascii": strconv.QuoteToASCII(secret),
			"query": url.QueryEscape(secret), "path": url.PathEscape(secret), "html": html.EscapeString(secret),
			"base64": base64.StdEncoding.EncodeToString([]byte(secret)), "hex": hex.EncodeToString([]byte(secret)), "shell": strings.ReplaceAll(secret, "'", `'\''`),
		} {
			if got := hide("<"+form+">", secret); !strings.Contains(got, "(sensitive)") || strings.Contains(got, form) {
				t.Errorf("%s: %q of %q becomes %q", name, form, secret, got)
			}
		}
	})
}
