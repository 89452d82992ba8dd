package hot

import (
	"runtime"
	"strings"
	"testing"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// mostAllocated bounds what reading a template of less than 100 kB may allocate, in bytes.
const mostAllocated = 256 << 20

// deepTemplate is a template with a list of items below keys that are long and nested.
func deepTemplate(depth, key, items int, item string) string {
	var b strings.Builder
	b.WriteString("heat_template_version: 2013-05-23\nresources:\n  VDU1: { type: OS::Nova::Server }\n  VDU2:\n    type: OS::Nova::Server\n    metadata: ")
	for range depth {
		b.WriteString("{" + strings.Repeat("k", key) + ": ")
	}
	b.WriteString("[" + strings.Repeat(item+",", items) + "]" + strings.Repeat("}", depth) + "\n")
	return b.String()
}

// bomb is a template whose aliases multiply what they name by ten in each line.
func bomb(levels int, first string) string {
	var b strings.Builder
	b.WriteString("heat_template_version: 2013-05-23\na0: &a0 " + first + "\n")
	for i := range levels {
		below := "*a" + string(rune('0'+i))
		n := string(rune('0' + i + 1))
		b.WriteString("a" + n + ": &a" + n + " [" + strings.Repeat(below+", ", 9) + below + "]\n")
	}
	b.WriteString("resources:\n  VDU1: { type: OS::Nova::Server }\n  VDU2: { type: OS::Nova::Server }\n")
	return b.String()
}

func TestHostileTemplates(t *testing.T) {
	const values = "BaseHOT/simple/top.yaml:1:1: the template has more than 100,000 values, counted after aliases and merge keys are followed"
	for name, c := range map[string]struct{ text, want string }{
		"deep, with long keys":    {text: deepTemplate(85, 300, 22_000, "1")},
		"deep, with many aliases": {text: strings.Replace(deepTemplate(85, 300, 9_000, "*a"), "VDU1: {", "VDU1: { metadata: &a [ { b: c } ],", 1)},
		"a bomb of lists":         {text: bomb(9, "[1, 2, 3]"), want: values},
		"a bomb of mappings":      {text: bomb(9, "[{ a: { b: { c: d } } }]"), want: values},
		"missing parameters":      {text: bomb(3, "[{ get_param: "+strings.Repeat("p", 30_000)+" }]") + "  other: { type: OS::Heat::None, properties: { all: *a3 } }\n", want: "the file has more than 20,000,000 steps of work"},
		"too deep":                {text: deepTemplate(300, 100, 1, "1"), want: "the file has more than 200 levels of nested values"},
	} {
		t.Run(name, func(t *testing.T) {
			p := files("-- simple/top.yaml --\n" + c.text)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, ps := Load(budget.New(t.Context(), budget.Limits{}), p, router())
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d bytes of text: %d MiB allocated", len(c.text), allocated>>20)
			if allocated > mostAllocated {
				t.Errorf("reading %d bytes allocated %d MiB", len(c.text), allocated>>20)
			}
			if got := lines(ps); c.want == "" && (s == nil || got != "") || c.want != "" && !strings.Contains(got, c.want) {
				t.Errorf("%.300s", got)
			}
		})
	}
}

// TestFilesAreBounded refuses files of which there is more than the budget has left.
func TestFilesAreBounded(t *testing.T) {
	top := head + both + "  config: { type: OS::Heat::SoftwareConfig, properties: { config: { get_file: big.sh } } }\n" + nestedFile
	p := files(top + "-- simple/big.sh --\n" + strings.Repeat("echo\n", 1000))
	for limit, want := range map[int64]string{
		100:     "BaseHOT/simple/top.yaml: the file has more than 100 bytes of text\n",
		4_000:   "BaseHOT/simple/big.sh: the file has more than 4,000 bytes of text\n",
		100_000: "",
	} {
		if s, ps := Load(budget.New(t.Context(), budget.Limits{Bytes: limit}), p, router()); lines(ps) != want || (s == nil) != (want != "") {
			t.Errorf("with %d bytes: %s", limit, lines(ps))
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range map[string]string{"deep": deepTemplate(85, 300, 22_000, "1"), "lists": bomb(9, "[1, 2, 3]"), "mappings": bomb(9, "[{ a: { b: { c: d } } }]")} {
		p := files("-- simple/top.yaml --\n" + text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Load(budget.New(b.Context(), budget.Limits{}), p, router())
			}
		})
	}
}
