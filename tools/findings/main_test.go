package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const example = `package vnfd

const hint = "drop comments"

func (r *reader) fail(at int, summary, detail string) {
	r.ps = append(r.ps, Problem{Line: at, Summary: summary, Detail: detail})
}

func (r *reader) failf(format string, args ...any) { r.fail(1, fmt.Sprintf(format, args...), "") }

func (r *reader) read() {
	refuse := func(summary string) { r.failf(summary) }
	r.fail(2, fmt.Sprintf("VDU %q has no image", id), "give it one | <name>")
	r.failf("line %d is empty", 4)
	refuse("the file is " + kind)
	//findings:says save it as UTF-8
	refuse("the file is UTF-16")
	advice := ""
	if r.large() {
		advice = "make it smaller; " + hint
	}
	bad := func(summary, detail string) {
		r.ps = append(r.ps, Problem{Summary: fmt.Sprintf("parameter %q %s", name, summary), Detail: detail})
	}
	bad("must be a map", "")
	bad("is too long", advice)
	r.ps.Errorf(file, 0, 0, "%s", wrong.text(4))
	r.ps.Warnf(file, at.Line, at.Column, "%s has no colon; add one", at.path)
	r.note("the key %s is unknown", key)
	oops := func(summary string) { r.ps.Errorf("", 0, 0, "hook %s: %s", hook, summary) }
	oops("it has no program")
	err = fmt.Errorf("reading %s, %s and %s: %w", a, b, c, err)
	r.ps = append(r.ps, Problem{Summary: err.Error()}, Problem{Summary: "a chart has " + hooks + "s", Detail: text})
}
`

const texts = `package vnfd

func (r *reader) note(format string, args ...any) { r.ps.Errorf(r.file, 0, 0, format+"; "+hint, args...) }

func (w wrong) text(line int) string {
	if w.near == "" {
		//findings:says define it
		return w.name + " does not exist"
	}
	return w.name + " does not exist; the nearest is " + w.near
}
`

const parameters = `package mgmt

func check(o *params.Object) {
	o.Errorf("api_port", "choose another one", "is the port of %s", other)
	o.Warnf(name, "", "must be a port")
}
`

func TestGuide(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"vnfd/read.go": example, "vnfd/policy.go": texts, "mgmt/ports.go": parameters} {
		file := filepath.Join(root, "internal", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(guide(found), "| --- | --- |\n")
	const want = "| `a chart has …s` |  |\n| `hook …: it has no program` |  |\n| `line … is empty` |  |\n" +
		"| `parameter … is too long` | make it smaller; drop comments |\n| `parameter … must be a map` |  |\n" +
		"| `the file is UTF-16` | save it as UTF-8 |\n| `the file is …` |  |\n| `the key … is unknown; drop comments` |  |\n" +
		"| `VDU … has no image` | give it one \\| &lt;name&gt; |\n| `… has no colon; add one` |  |\n" +
		"\n### Policies\n\n| finding | what to do |\n| --- | --- |\n| `… does not exist` | define it |\n| `… does not exist; the nearest is …` |  |\n" +
		"\n## Management drivers and private registries\n\n| finding | what to do |\n| --- | --- |\n" +
		"| `… must be a port` |  |\n| `….api_port is the port of …` | choose another one |\n"
	if got != want {
		t.Errorf("the guide has\n%s\nwant\n%s", got, want)
	}
	var missing []string
	for _, f := range withoutRemedy(found) {
		missing = append(missing, f.summary)
	}
	if want := []string{"a chart has …s", "hook …: it has no program", "line … is empty", "the file is …"}; !slices.Equal(missing, want) {
		t.Errorf("without a remedy are %q, want %q", missing, want)
	}
}
