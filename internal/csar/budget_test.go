package csar

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// mostAllocated bounds what reading a small package may allocate, in bytes.
const mostAllocated = 256 << 20

// TestHostileSizes reads what is small and would cost much: a name of many directories, a manifest that is all
// findings or all sets, thousands of names that are missing, and thousands of signatures of one large file.
func TestHostileSizes(t *testing.T) {
	leaf := issue(t, "Leaf", nil, nil)
	many := func(n int, one func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(one(i))
		}
		return b.String()
	}
	good := goodPackage()
	image := strings.Repeat("image", 4<<20)
	tests := []struct {
		name  string
		files texts
		// steps are those of the budget, 0 for the default.
		steps int64
		// problems is how many there are at most, last the end of the last one.
		problems int
		last     string
	}{
		{name: "no manifest but garbage", files: good.with(texts{"vnfd.mf": strings.Repeat("x\n", 400_000)}), problems: 103, last: "nothing protects this content; add a Source with Algorithm and Hash for each"},
		{name: "a manifest of sets", files: good.with(texts{"vnfd.mf": goodMetadata + "non_mano_artifact_sets:\n" + many(100_000, func(i int) string { return fmt.Sprintf("s%d:\n", i) })}), problems: 103},
		{name: "names that are missing", files: good.with(texts{"vnfd.mf": goodMetadata + many(20_000, func(i int) string { return fmt.Sprintf("Source: Files/f%d\n", i) })}), problems: 2, last: "nothing protects this content; add a Source with Algorithm and Hash for each"},
		{name: "signatures of one file", files: good.with(texts{"image": image, "image.cms": leaf.signDetached(t, image), "vnfd.mf": goodMetadata + strings.Repeat("Source: image\nSignature: image.cms\n", 2_000)}), problems: 251},
		{name: "more signatures than steps", files: good.with(texts{"a": "a", "a.cms": leaf.signDetached(t, "a"), "vnfd.mf": goodMetadata + strings.Repeat("Source: a\nSignature: a.cms\n", 2_000)}), steps: 100_000, problems: 251,
			last: "the signature of \"a\" is not verified: with it the package has more than 100,000 steps of work: sign the manifest or the archive, and not each file"},
		{name: "sources", files: good.with(texts{"vnfd.mf": goodMetadata + strings.Repeat("Source: a\n", 100_001)}), problems: 251},
		{name: "blocks", files: good.with(texts{"TOSCA-Metadata/TOSCA.meta": goodMeta + strings.Repeat("Name: a\n", 100_001)}), problems: 251},
		{name: "lines", files: good.with(texts{"vnfd.mf": strings.Repeat("\n", 500_001)}), problems: 2},
		{name: "items of a value", files: good.with(texts{"vnfd.mf": goodMetadata + strings.Repeat("- aaa\n", 100_000)}), problems: 1},
		{name: "lines of a value", files: good.with(texts{"TOSCA-Metadata/TOSCA.meta": goodMeta + strings.Repeat(" aaa\n", 100_000)}), problems: 2},
		{name: "a long value", files: good.with(texts{"TOSCA-Metadata/TOSCA.meta": goodMeta + "Other-Definitions: " + strings.Repeat("a", 1<<20) + "\n"}), problems: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			archive := tt.files.archive()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, problems := Read(archive, Options{Budget: budget.New(t.Context(), budget.Limits{Steps: tt.steps})})
			runtime.ReadMemStats(&after)
			allocated := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d problems in %v, %d MiB allocated", len(problems), time.Since(start), allocated>>20)
			assert.LessOrEqual(t, allocated, uint64(mostAllocated), "%d MiB were allocated", allocated>>20)
			for _, p := range problems {
				assert.LessOrEqual(t, len(p.String()), 3*budget.MaxText, "a problem of %d bytes: %.100s", len(p.String()), p)
			}
			assert.LessOrEqual(t, len(problems), tt.problems)
			lines := render(problems)
			assert.True(t, strings.HasSuffix(lines[len(lines)-1], tt.last), "the last one is %s", lines[len(lines)-1])
		})
	}
	for name, want := range map[string]string{
		strings.Repeat("a/", 32_700) + "a":      "the name has 65401 bytes, more than 1024",
		strings.Repeat("a/", 64) + "a":          "the name has more than 64 directories",
		strings.Repeat("a", maxNameBytes) + "b": "the name has 1025 bytes, more than 1024",
	} {
		_, err := cleanName(name)
		require.EqualError(t, err, want, "%.20s...", name)
	}
	_, err := cleanName(strings.Repeat("a/", maxNameSegments-1) + "a")
	require.NoError(t, err)
}

func BenchmarkHostile(b *testing.B) {
	for name, manifest := range map[string]string{
		"garbage": strings.Repeat("x\n", 1<<19), "sets": goodMetadata + "non_mano_artifact_sets:\n" + strings.Repeat("s:\n", 1<<18),
		"names": goodMetadata + strings.Repeat("Source: Files/f\n", 1<<16),
	} {
		archive := goodPackage().with(texts{"vnfd.mf": manifest}).archive()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Read(archive, Options{})
			}
		})
	}
}
