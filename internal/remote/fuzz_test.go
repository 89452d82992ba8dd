package remote

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// FuzzHostKeys reads foreign lines of known hosts: what is read can be asked for.
func FuzzHostKeys(f *testing.F) {
	for _, text := range []string{
		"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDDGRdFGFfdFJzZ2VsYXNrZGphc2tkamFza2Rqa2Fz", "ssh-rsa AAAA", "", "a b c\nd e f",
		`command="x" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDDGRdFGFfdFJzZ2VsYXNrZGphc2tkamFza2Rqa2Fz`, "@cert-authority * ssh-rsa AAAA",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := newVerifier(Host{HostKeys: []string{text}})
		if err != nil {
			return
		}
		require.Len(t, v.wanted, 1)
		assert.NotEmpty(t, v.algorithms(), "%q is read as", text)
		require.NoError(t, v.check("", nil, v.wanted[0]), "the key itself is refused")
	})
}

// FuzzOutput hands on what a host prints, in pieces: no line holds the secret, none is longer than it may be, and nothing is
// lost but ends of lines.
func FuzzOutput(f *testing.F) {
	f.Add("a\nplanted-secret\r\nb", 3)
	f.Add(strings.Repeat("x", lineSize)+"planted-secret", lineSize+4)
	f.Add(strings.Repeat("planted-secre", 3000)+"t", 7)
	f.Add("\r\r\n\x00\xff", 1)
	const secret = "planted-secret"
	f.Fuzz(func(t *testing.T, text string, piece int) {
		if piece <= 0 || len(text)/piece > 10_000 {
			return
		}
		var got []string
		l := &lines{mask: newMask(vnfm.Secret(secret)), shared: &sync.Mutex{}, each: func(line string) { got = append(got, line) }}
		for rest := text; rest != ""; {
			n := min(piece, len(rest))
			_, err := l.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		l.close()
		for _, line := range got {
			assert.NotContains(t, line, secret, "a line holds the secret")
		}
		without := func(s string) string {
			return strings.NewReplacer("\r", "", "\n", "", secret, "", "(sensitive)", "").Replace(s)
		}
		if !strings.Contains(without(text), secret) && !strings.Contains(without(text), "sensitive") && without(strings.Join(got, "")) != without(text) {
			t.Errorf("got %q of %q", got, text)
		}
	})
}
