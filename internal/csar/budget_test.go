package csar

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

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
		// problems is how many there are at most, last the end of the last one.
		problems int
		last     string
	}{
		{name: "no manifest but garbage", files: good.with(texts{"vnfd.mf": strings.Repeat("x\n", 400_000)}), problems: 103, last: "nothing protects this content; add a Source with Algorithm and Hash for each"},
		{name: "a manifest of sets", files: good.with(texts{"vnfd.mf": goodMetadata + "non_mano_artifact_sets:\n" + many(100_000, func(i int) string { return fmt.Sprintf("s%d:\n", i) })}), problems: 103},
		{name: "names that are missing", files: good.with(texts{"vnfd.mf": goodMetadata + many(20_000, func(i int) string { return fmt.Sprintf("Source: Files/f%d\n", i) })}), problems: 20_010},
		{name: "signatures of one file", files: good.with(texts{"image": image, "image.cms": leaf.signDetached(t, image), "vnfd.mf": goodMetadata + strings.Repeat("Source: image\nSignature: image.cms\n", 2_000)}), problems: 4_100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			start := time.Now()
			_, problems := Read(tt.files.archive(), Options{})
			t.Logf("%d problems in %v", len(problems), time.Since(start))
			if len(problems) > tt.problems {
				t.Errorf("%d problems", len(problems))
			}
			if lines := render(problems); !strings.HasSuffix(lines[len(lines)-1], tt.last) {
				t.Errorf("the last one is %s", lines[len(lines)-1])
			}
		})
	}
	for name, want := range map[string]string{
		strings.Repeat("a/", 32_700) + "a":      "the name has 65401 bytes, more than 1024",
		strings.Repeat("a/", 64) + "a":          "the name has more than 64 directories",
		strings.Repeat("a", maxNameBytes) + "b": "the name has 1025 bytes, more than 1024",
	} {
		if _, err := cleanName(name); err == nil || err.Error() != want {
			t.Errorf("%.20s...: %v, want %s", name, err, want)
		}
	}
	if _, err := cleanName(strings.Repeat("a/", maxNameSegments-1) + "a"); err != nil {
		t.Error(err)
	}
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
