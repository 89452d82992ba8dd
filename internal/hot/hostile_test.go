package hot

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

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
			assert.LessOrEqual(t, allocated, uint64(mostAllocated), "reading %d bytes allocated %d MiB", len(c.text), allocated>>20)
			if got := lines(ps); c.want == "" && (s == nil || got != "") || c.want != "" && !strings.Contains(got, c.want) {
				t.Errorf("%.300s", got)
			}
		})
	}
}

// TestStackIsBounded makes a stack of a thousand VNFCs, each of which has or names much.
func TestStackIsBounded(t *testing.T) {
	numbers := make([]int, 1000)
	for i := range numbers {
		numbers[i] = i
	}
	for name, c := range map[string]struct{ server, other string }{
		"large resources":    {server: "{ type: OS::Nova::Server, metadata: [" + strings.Repeat("x,", 20_000) + "x] }"},
		"references to all":  {server: "{ type: OS::Nova::Server }", other: "  all: { type: OS::Heat::Value, properties: { value: [" + strings.Repeat("{ get_resource: VDU1 },", 9_000) + "x] } }\n"},
		"references in turn": {server: "{ type: OS::Nova::Server }", other: "  all: { type: OS::Heat::Value, depends_on: [" + strings.Repeat("VDU1,", 9_000) + "VDU1] }\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := files("-- simple/top.yaml --\nheat_template_version: 2013-05-23\nresources:\n  VDU1: " + c.server + "\n  VDU2: { type: OS::Nova::Server }\n" + c.other)
			f := router()
			f.VDUs[0].MaxInstances = 1000
			s := mustLoad(t, p, f)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			stack, ps := s.Stack(Request{Flavour: f, Counts: map[string]int{"VDU1": 1000, "VDU2": 1}, VNFCs: map[string][]int{"VDU1": numbers, "VDU2": {0}}})
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			assert.LessOrEqual(t, allocated, uint64(mostAllocated), "%d MiB were allocated", allocated>>20)
			want := "BaseHOT/simple/top.yaml:3:3: with 1000 VNFCs of the VDU VDU1 the stack has more than 1,000,000 values, counted after aliases and merge keys are followed: scale the VDU to fewer VNFCs, or make its templates smaller\n"
			if got := lines(ps); stack != nil || got != want {
				t.Errorf("%.500s", got)
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
