package vnfm_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// hide masks a text of an operation that has secrets.
func hide(text string, secrets ...string) string {
	c := &vnfm.Concealed{}
	c.Add(secrets...)
	return c.Hide(text)
}

// TestMaskOfForms: whatever way a text quotes a secret, nothing of it is left.
func TestMaskOfForms(t *testing.T) {
	long := strings.Repeat("correct horse battery staple; ", 8) + "end"
	secrets := map[string]string{
		"plain": "hunter2-is-weak", "quotes": `it's "quoted" 'twice'`, "lines": "first line\nsecond: line\n  third\tline", "unicode": "pässwörd-ключ-🔑-end",
		"percent": "100%sure%20of%it", "backslash": `C:\new\table\\share`, "dollar": "$HOME${x}$$(id)", "html": `<a href="x">&amp;</a>`,
		"blanks": "  leading and trailing  ", "long": long, "invalid": "abc\xff\xfedef\x00ghi", "url": "https://u:p@h/?a=b&c=d+e f",
	}
	for name, s := range secrets {
		marshal := func(v any) string {
			raw, err := json.Marshal(v)
			require.NoError(t, err)
			return string(raw)
		}
		asYAML := func(v any) string {
			raw, err := yaml.Marshal(v)
			require.NoError(t, err)
			return string(raw)
		}
		std := base64.StdEncoding.EncodeToString([]byte(s))
		block := "key: |\n    " + strings.ReplaceAll(s, "\n", "\n    ")
		forms := map[string]string{
			"plain": s, "trimmed": strings.TrimSpace(s), "json": marshal(s), "json in json": marshal(marshal(s)), "json thrice": marshal(marshal(marshal(s))),
			"go": strconv.Quote(s), "go ascii": strconv.QuoteToASCII(s), "query": url.QueryEscape(s), "path": url.PathEscape(s), "query twice": url.QueryEscape(url.QueryEscape(s)),
			"user": url.UserPassword("u", s).String(), "html": html.EscapeString(s), "python html": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace(s),
			"shell": "'" + strings.ReplaceAll(s, "'", `'\''`) + "'", "shlex": "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'",
			"yaml": asYAML(map[string]string{"key": s}), "yaml quoted": "'" + strings.ReplaceAll(s, "'", "''") + "'", "yaml block": block,
			"base64": std, "base64 url": base64.RawURLEncoding.EncodeToString([]byte(s)), "hex": hex.EncodeToString([]byte(s)), "HEX": fmt.Sprintf("%X", s),
			"base64 wrapped": wrapped(std, "\n"), "base64 wrapped in json": wrapped(std, `\n`), "base64 of all of it": base64.StdEncoding.EncodeToString([]byte("admin:" + s + "@host")),
			"base64 shifted": base64.StdEncoding.EncodeToString([]byte("a" + s + "zz")), "base64 in a block": wrapped(base64.StdEncoding.EncodeToString([]byte("xx"+s+"zz")), "\n    "),
			"octal": octal(s), "dollars": strings.ReplaceAll(s, "$", "$$"), "percents": strings.ReplaceAll(s, "%", "%%"), "replaced": strings.ToValidUTF8(s, "\uFFFD"),
		}
		for form, text := range forms {
			if name == "invalid" && strings.HasPrefix(form, "yaml") || name == "unicode" && form == "yaml block" {
				continue
			}
			got := hide("before <"+text+"> after", s)
			if n := leftOver(got, text); !strings.Contains(got, "(sensitive)") || n > 12 || !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") {
				t.Errorf("%s as %s: %q becomes %q (%d)", name, form, text, got, n)
			}
		}
		if name == "invalid" {
			continue
		}
		for _, n := range []int{12, len(s) - 1} {
			cut := strings.ToValidUTF8(strings.TrimSpace(s)[:min(n, len(strings.TrimSpace(s))-1)], "")
			for _, end := range []string{"", "...", "…", "[truncated 5 bytes]", " [...] more"} {
				require.Equal(t, "it is (sensitive)"+end, hide("it is "+cut+end, s), "%s cut off: %q becomes", name, cut+end)
			}
			rest := strings.ToValidUTF8(strings.TrimSpace(s)[3:], "")
			for _, begin := range []string{"", "log: ...", "log: …", "log [...] "} {
				require.Equal(t, begin+"(sensitive) end", hide(begin+rest+" end", s), "%s without its beginning: %q becomes", name, begin+rest)
			}
		}
	}
	require.NotContains(t, hide(strings.Repeat("a", 100)+strings.Repeat("x", 2000)+"... (1048576 bytes)", strings.Repeat("x", 1<<20)), "xxxxxxxxx", "a long one that is cut off")
}

// leftOver is how much of a text is still there in one piece, of texts of letters and digits.
func leftOver(got, text string) int {
	n := 0
	for _, part := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(got, "before <"), "> after"), "(sensitive)") {
		if strings.Contains(text, part) {
			n = max(n, len(part))
		}
	}
	return n
}

func wrapped(text, with string) string {
	var lines []string
	for len(text) > 76 {
		lines, text = append(lines, text[:76]), text[76:]
	}
	return strings.Join(append(lines, text), with)
}

func octal(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if text[i] < 0x20 || text[i] > 0x7e {
			fmt.Fprintf(&out, `\%03o`, text[i])
		} else {
			out.WriteByte(text[i])
		}
	}
	return out.String()
}

// TestMaskOfShort: a secret of fewer than four characters is masked where it stands as a value,
// a number where it is not part of a longer one, and running text stays.
func TestMaskOfShort(t *testing.T) {
	for _, tt := range []struct{ secret, text, want string }{
		{"abc", `{"pin":"abc"}`, `{"pin":"(sensitive)"}`},
		{"abc", `{\"pin\":\"abc\"}`, `{\"pin\":\"(sensitive)\"}`},
		{"abc", "password 'abc' is too short", "password '(sensitive)' is too short"},
		{"abc", "login --password abc failed", "login --password (sensitive) failed"},
		{"abc", "login -p abc", "login -p (sensitive)"},
		{"abc", "pin=abc user=x", "pin=(sensitive) user=x"},
		{"abc", "pin: abc\nabc: x", "pin: (sensitive)\nabc: x"},
		{"abc", "pin%3Dabc%26user", "pin%3D(sensitive)%26user"},
		{"abc", "postgres://u:abc@h/db", "postgres://u:(sensitive)@h/db"},
		{"abc", "map[pin:abc user:x]", "map[pin:(sensitive) user:x]"},
		{"abc", "args: [x, abc, y]", "args: [x, (sensitive), y]"},
		{"abc", "list:\n  - abc\n  - abcd", "list:\n  - (sensitive)\n  - abcd"},
		{"abc", "stdout:\nabc\n", "stdout:\n(sensitive)\n"},
		{"abc", `"stdout": "x\nabc\ny"`, `"stdout": "x\n(sensitive)\ny"`},
		{"abc", "data: YWJj", "data: (sensitive)"},
		{"abc", "the abc of it, abcdef, x-abc, abc.example.com: 'abc.d'", "the abc of it, abcdef, x-abc, abc.example.com: 'abc.d'"},
		{"a", "a pod is not a node", "a pod is not a node"},
		{"1", "0/1 nodes are available, exit code 1, restarted 1 times", "0/1 nodes are available, exit code 1, restarted 1 times"},
		{"1", "pin: Invalid value: 1: must be longer", "pin: Invalid value: (sensitive): must be longer"},
		{"123", "spec.pin: Invalid value: 123: too large", "spec.pin: Invalid value: (sensitive): too large"},
		{"123", `{"pin": 123, "port": 1234}`, `{"pin": (sensitive), "port": 1234}`},
		{"123", "Parameter 'pin' is invalid: 123 does not match", "Parameter 'pin' is invalid: (sensitive) does not match"},
		{"1.5", "v1.5.2 of a=1.5", "v1.5.2 of a=(sensitive)"},
		{"4711", "got 4711, 47110 and 14711, 4711.5, -p4711", "got (sensitive), 47110 and 14711, 4711.5, -p(sensitive)"},
		{"4711", "%204711 x%3D4711", "%20(sensitive) x%3D(sensitive)"},
		{"a&b", `{"p":"a\u0026b"} a%26b`, `{"p":"(sensitive)"} a%26b`},
		{"true", "Ready=true", "Ready=true"},
	} {
		require.Equal(t, tt.want, hide(tt.text, tt.secret), "%q in %q", tt.secret, tt.text)
	}
}

// TestTextsIn: numbers are texts too, in each way that they are written.
func TestTextsIn(t *testing.T) {
	got := map[string]bool{}
	for _, text := range vnfm.TextsIn(map[string]any{"a": []any{"x", 123.0, true, nil}, "b": 12345678901234567890.0, "c": 7}) {
		got[text] = true
	}
	for _, want := range []string{"x", "123", "7", "12345678901234567000", "1.2345678901234567e+19"} {
		if !got[want] {
			t.Errorf("%q is missing in %v", want, got)
		}
	}
	require.Len(t, got, 5)
}
