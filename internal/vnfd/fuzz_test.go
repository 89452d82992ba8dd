package vnfd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/budget"
)

// FuzzRead looks for panics, work past the budget and positions that are not in the file; what is read also survives the
// arithmetic, and is the same when it is read again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(goodVNFD))
	f.Add([]byte(legacy))
	for _, text := range []string{nestedMerges(14), nestedConcat(12), manyVDUs(40), missingNames(120)} {
		f.Add([]byte(text))
	}
	for _, tt := range badVNFDs {
		if tt.old == "" {
			f.Add([]byte(tt.new))
		} else {
			f.Add([]byte(strings.Replace(goodVNFD, tt.old, tt.new, 1)))
		}
	}
	for _, pattern := range []string{"testdata/*/Definitions/*.yaml", "testdata/*/Definitions/*/*.yaml", "../../examples/packages/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := budget.Limits{Steps: 100_000, Values: 50_000}
		b := budget.New(t.Context(), limits)
		d, problems := Parse(b, "v.yaml", data)
		if err := b.Err(); err != nil && (len(problems) == 0 || !strings.Contains(lines(problems), err.Error())) {
			t.Errorf("the budget ended with %q, and no problem says it: %s", err, lines(problems))
		}
		assert.LessOrEqual(t, len(problems), mostProblems+1)
		again, more := Parse(budget.New(t.Context(), limits), "v.yaml", data)
		assert.Equal(t, problems, more, "problems of a second reading (-first +second)")
		assert.Empty(t, cmp.Diff(d, again), "a second reading (-first +second)")
		require.NotNil(t, d, "no descriptor")
		count := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(string(data)), "\n") + 1
		for _, p := range problems {
			if p.File != "v.yaml" && p.File != "" || p.Line > count+1 || p.Line < 0 || p.Column < 0 {
				t.Errorf("position of %s in a file of %d lines", p, count)
			}
			assert.NotEmpty(t, p.Summary, "a problem without text")
		}
		if problems.HasErrors() {
			return
		}
		for i := range d.Flavours {
			fl := &d.Flavours[i]
			for _, l := range append(fl.LevelIDs(), "") {
				Counts(fl, l, nil)
			}
		}
		if _, more := Read(budget.New(t.Context(), limits), fstest.MapFS{"v.yaml": {Data: data}}, "v.yaml"); len(more) == 0 && len(problems) > 0 {
			t.Errorf("Parse found %q, Read nothing", problems)
		}
	})
}
