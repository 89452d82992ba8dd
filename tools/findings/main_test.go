package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const example = `package vnfd

func (r *reader) fail(at int, summary, detail string) {
	r.ps = append(r.ps, Problem{Line: at, Summary: summary, Detail: detail})
}

func (r *reader) failf(format string, args ...any) { r.fail(1, fmt.Sprintf(format, args...), "") }

func (r *reader) read() {
	refuse := func(summary string) { r.failf(summary) }
	r.fail(2, fmt.Sprintf("VDU %q has no image", id), "give it one | <name>")
	r.failf("line %d is empty", 4)
	refuse("the file is " + kind)
	r.ps = append(r.ps, Problem{Summary: err.Error()}, Problem{Summary: "a chart has " + hooks + "s", Detail: text})
}
`

func TestGuide(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "internal", "vnfd")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "read.go"), []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(guide(found), "| --- | --- |\n")
	const want = "| `a chart has …s` |  |\n| `line … is empty` |  |\n| `the file is …` |  |\n| `VDU … has no image` | give it one \\| &lt;name&gt; |\n"
	if got != want {
		t.Errorf("the guide has\n%s\nwant\n%s", got, want)
	}
}
