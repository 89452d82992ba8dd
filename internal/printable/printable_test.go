package printable_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/printable"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"plain\ttext,\nÄ, 漢字, 🙂":               "plain\ttext,\nÄ, 漢字, 🙂",
		"\x1b]52;c;aGk=\a":                     `\u001b]52;c;aGk=\u0007`,
		"a\bb\rc\x7fd\x00":                     `a\u0008b\u000dc\u007fd\u0000`,
		"C1 \u009b31m":                         `C1 \u009b31m`,
		"bidi \u202e \u2066, wide\u200b\ufeff": `bidi \u202e \u2066, wide\u200b\ufeff`,
		"tag \U000e0001":                       `tag \udb40\udc01`,
		"no \xff UTF-8":                        "no \ufffd UTF-8",
	} {
		assert.Equal(t, want, printable.Text(text), "%q", text)
	}
}

// TestWriter writes characters in parts.
func TestWriter(t *testing.T) {
	const text = "漢 🙂 \u009b \x1b[1m\u202e end\n"
	for size := 1; size < 6; size++ {
		var out bytes.Buffer
		w := printable.Writer{To: &out}
		for rest := []byte(text); len(rest) > 0; {
			n, err := w.Write(rest[:min(size, len(rest))])
			require.NoError(t, err)
			rest = rest[n:]
		}
		assert.Equal(t, printable.Text(text), out.String(), "in parts of %d bytes", size)
	}
}
