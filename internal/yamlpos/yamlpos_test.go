package yamlpos_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
	"github.com/nfv-iac/terraform-provider-vnf/internal/yamlpos"
)

func lines(ps vnfm.Problems) []string {
	out := []string{}
	for _, p := range ps {
		out = append(out, p.String())
	}
	return out
}

// TestValue reads what YAML 1.1 means, with merge keys and aliases followed.
func TestValue(t *testing.T) {
	const text = `
base: &base {a: 1, b: two}
own: {<<: *base, b: 3}
list: {<<: [*base, {c: 4, a: 9}]}
again: [*base, *base]
words: [yes, y, "yes", Off, 'off', |-
  on
]
numbers: [0x1f, 1.5, 1e3, 52:54:00:12:34:56, 18446744073709551616]
none: ~
when: 2026-01-31
`
	docs, problems := yamlpos.Parse(budget.New(t.Context(), budget.Limits{}), "f", []byte(strings.ReplaceAll(text, "|-\n  on\n", "\"on\"")), yamlpos.Options{})
	if len(problems) > 0 || len(docs) != 1 {
		t.Fatal(lines(problems), len(docs))
	}
	got, ok := docs[0].Value(docs[0].Root, yamlpos.Values{Letters: true}, &problems)
	want := map[string]any{
		"base": map[string]any{"a": int64(1), "b": "two"}, "own": map[string]any{"a": int64(1), "b": int64(3)},
		"list":  map[string]any{"a": int64(1), "b": "two", "c": int64(4)},
		"again": []any{map[string]any{"a": int64(1), "b": "two"}, map[string]any{"a": int64(1), "b": "two"}},
		"words": []any{true, true, "yes", false, "off", "on"}, "numbers": []any{int64(31), 1.5, 1000.0, "52:54:00:12:34:56", 18446744073709551616.0},
		"none": nil, "when": "2026-01-31",
	}
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("(-want +got):\n%s%v", diff, lines(problems))
	}
}

func TestParseErrors(t *testing.T) {
	many := func(n int, one string) string { return strings.Repeat(one, n) }
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	merges := "m0: &m0 {k0: 1, x0: 1}\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, many(9, fmt.Sprintf("*a%d, ", i-1)), i-1)
		merges += fmt.Sprintf("m%d: &m%d {<<: [%s*m%d], k%d: 1}\n", i, i, many(9, fmt.Sprintf("*m%d, ", i-1)), i-1, i)
	}
	tests := []struct {
		name, text string
		o          yamlpos.Options
		limits     budget.Limits
		want       []string
	}{
		{name: "empty", text: "", want: []string{}},
		{name: "null documents", text: "---\n---\n~\n", want: []string{}},
		{name: "syntax", text: "a: [", want: []string{"f:1: the file is not valid YAML: did not find expected node content"}},
		{name: "a key twice", text: "a: 1\nb: 2\na: 3\n", want: []string{`f:3:1: the key "a" is given twice, first in line 1`}},
		{name: "a key twice where the last wins", text: "a: 1\na: 3\n", o: yamlpos.Options{LastKeyWins: true}, want: []string{}},
		{name: "all at once", text: "a: 1\na: 2\n[x]: 3\n~: 4\n<<: 5\nb: {<<: [[1]]}\n", want: []string{
			`f:2:1: the key "a" is given twice, first in line 1`, "f:3:1: a key must be a string, not a list", "f:4:1: a key must be a string, not null",
			"f:5:5: a merge key takes mappings only, not a number", "f:6:10: a merge key takes mappings only",
		}},
		{name: "an alias in itself", text: "a: &a [1, *a]\n", want: []string{"f:1:11: the alias *a contains itself"}},
		{name: "a merge of itself", text: "a: &a {<<: *a}\n", want: []string{"f:1:12: the alias *a contains itself"}},
		{name: "no places", text: "a: 1\na: 3\n", o: yamlpos.Options{NoPlaces: true}, want: []string{`f: the key "a" is given twice, first in line 1`}},
		{name: "aliases that multiply are no values until they are used", text: bomb, want: []string{}},
		{name: "merges that multiply are small when resolved", text: merges, want: []string{}},
		{name: "too deep", text: many(300, "[") + many(300, "]"), want: []string{"f:1:202: the file has more than 200 levels of nested values"}},
		{name: "too many values", text: "[" + many(400_000, "a,\n") + "]", want: []string{"f: the file has more than 750,000 values"}},
		{name: "too many values for what is left", text: "[a, b, c]", limits: budget.Limits{Values: 3}, want: []string{"f:1:8: the file has more than 3 values, counted after aliases and merge keys are followed"}},
		{name: "too many bytes for what is left", text: "[a, b, c]", limits: budget.Limits{Bytes: 8}, want: []string{"f: the file has more than 8 bytes of text"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := yamlpos.Parse(budget.New(t.Context(), tt.limits), "f", []byte(tt.text), tt.o)
			if diff := cmp.Diff(tt.want, lines(problems)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	docs, problems := yamlpos.Parse(budget.New(t.Context(), budget.Limits{}), "f", []byte(bomb), yamlpos.Options{})
	if _, ok := docs[0].Value(docs[0].Root, yamlpos.Values{}, &problems); ok || len(problems) != 1 ||
		!strings.Contains(problems[0].String(), "the file has more than 1,000,000 values, counted after aliases and merge keys are followed") {
		t.Error(ok, lines(problems))
	}
}

// TestParseBoundsProblems reads texts that are wrong in every value: 100 problems are listed, what ends the reading is last, and
// no problem is as long as its text.
func TestParseBoundsProblems(t *testing.T) {
	const most = 256 << 20
	for name, tt := range map[string]struct {
		text     string
		limits   budget.Limits
		problems int
		last     string
	}{
		"one key":                {text: "{" + strings.Repeat("k,", 300_000) + "}", problems: 101, last: "f: 299899 more problems in this file are not listed"},
		"no keys":                {text: "{" + strings.Repeat("[]: 1,", 100_000) + "}", problems: 101, last: "f: 99900 more problems in this file are not listed"},
		"no mappings":            {text: "x: {<<: [" + strings.Repeat("1,", 300_000) + "1]}", problems: 101, last: "f: 299901 more problems in this file are not listed"},
		"a limit after problems": {text: "x: {a, a}\ny: &y {b}\nz: [" + strings.Repeat("{<<: *y},", 10) + "]", limits: budget.Limits{Values: 20}, problems: 2, last: "f:3:19: the file has more than 20 values, counted after aliases and merge keys are followed"},
		"many directives":        {text: "a: b\n" + strings.Repeat("%TAG !a! tag:x,2000:\n", 1001), problems: 1, last: "f: the file has more than 1,000 directives %TAG"},
		"a long key":             {text: strings.Repeat("? "+strings.Repeat("k", 3000)+"\n: 1\n", 2), problems: 1, last: "f:3:3: the key \"" + strings.Repeat("k", 991) + " [...] " + strings.Repeat("k", 967) + "\" is given twice, first in line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, problems := yamlpos.Parse(budget.New(t.Context(), tt.limits), "f", []byte(tt.text), yamlpos.Options{})
			runtime.ReadMemStats(&after)
			if got := lines(problems); len(got) != tt.problems || got[len(got)-1] != tt.last {
				t.Errorf("%d problems, the last one is %s", len(got), got[len(got)-1])
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > most {
				t.Errorf("%d MiB were allocated", allocated>>20)
			}
		})
	}
}

// TestPlaceAndSize follows ways through lists, aliases and merge keys.
func TestPlaceAndSize(t *testing.T) {
	const text = "a: &a\n  - {b: c}\n  - *a1\nd:\n  <<: {e: [f, g]}\n"
	docs, problems := yamlpos.Parse(budget.New(t.Context(), budget.Limits{}), "f", []byte("x: &a1 [y]\n"+text), yamlpos.Options{})
	if len(docs) != 1 {
		t.Fatal(lines(problems))
	}
	d := docs[0]
	for _, tt := range []struct {
		way          []yamlpos.Step
		line, column int
	}{
		{nil, 1, 1},
		{[]yamlpos.Step{{Key: "a"}}, 2, 1},
		{[]yamlpos.Step{{Key: "a"}, {Index: 0}}, 3, 5},
		{[]yamlpos.Step{{Key: "a"}, {Index: 0}, {Key: "b"}}, 3, 6},
		{[]yamlpos.Step{{Key: "a"}, {Index: 1}}, 4, 5},
		{[]yamlpos.Step{{Key: "a"}, {Index: 1}, {Index: 0}}, 1, 9},
		{[]yamlpos.Step{{Key: "a"}, {Index: 7}}, 2, 1},
		{[]yamlpos.Step{{Key: "a"}, {Index: -1}}, 2, 1},
		{[]yamlpos.Step{{Key: "d"}, {Key: "e"}, {Index: 1}}, 6, 15},
		{[]yamlpos.Step{{Key: "x"}, {Index: 0}, {Key: "none"}}, 1, 9},
	} {
		if n := d.Place(d.Root, tt.way...); n.Line != tt.line || n.Column != tt.column {
			t.Errorf("%v is at %d:%d, want %d:%d", tt.way, n.Line, n.Column, tt.line, tt.column)
		}
	}
	if n := d.Size(d.Root); n != 12 {
		t.Errorf("the document has %d values, want 12", n)
	}
}

// TestParseEndsWithContext stops in the middle of a large text.
func TestParseEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, problems := yamlpos.Parse(budget.New(ctx, budget.Limits{}), "f", []byte("["+strings.Repeat("a, ", 10_000)+"]"), yamlpos.Options{})
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "context canceled") {
		t.Error(lines(problems))
	}
}

// BenchmarkParse reads the texts that cost the most for their size.
func BenchmarkParse(b *testing.B) {
	texts := map[string]string{
		"flow":     "[" + strings.Repeat("a,", 1<<19) + "]",
		"block":    strings.Repeat("- a\n", 1<<18),
		"mappings": strings.Repeat("a: {b: c}\n---\n", 70_000),
		"deep":     strings.Repeat("[", 1<<19),
		"indent": func() string {
			var s strings.Builder
			for i := range 1400 {
				s.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return s.String()
		}(),
		"comments": strings.Repeat("# c\n", 1<<18),
		"anchors":  strings.Repeat("- &a a\n- *a\n", 85_000),
		"quoted":   `["` + strings.Repeat(`\x41`, 1<<18) + `"]`,
		"keys": func() string {
			var s strings.Builder
			for i := range 80_000 {
				fmt.Fprintf(&s, "k%d: %d\n", i, i)
			}
			return s.String()
		}(),
	}
	for name, text := range texts {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var peak uint64
			for b.Loop() {
				docs, _ := yamlpos.Parse(budget.New(b.Context(), budget.Limits{}), "f", []byte(text), yamlpos.Options{})
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
				runtime.KeepAlive(docs)
			}
			b.ReportMetric(float64(peak)/(1<<20), "MiB-in-use")
			b.ReportMetric(float64(len(text))/(1<<20), "MiB-of-text")
		})
	}
}
