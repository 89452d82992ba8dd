package budget

import (
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestEach takes from a budget what the things take together, and refuses the same one whether they are done at once or one after the other.
func TestEach(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const things, values = 100, 10
	for name, test := range map[string]struct {
		limit   int64
		refused []int
	}{
		"enough":     {limit: things * values},
		"too little": {limit: 50*values + 5, refused: []int{50}},
		"spent":      {limit: 1, refused: []int{0}},
	} {
		t.Run(name, func(t *testing.T) {
			b := New(t.Context(), Limits{Values: test.limit})
			all := Each(b, things, func(b *Budget, i int) string {
				if b.Err() != nil {
					return "not done"
				}
				_, before := b.Taken()
				if err := b.Values(values); err != nil {
					return err.Error()
				}
				if _, after := b.Taken(); after-before != values {
					t.Errorf("thing %d takes %d", i, after-before)
				}
				return ""
			})
			var refused []int
			for i, said := range all {
				if strings.HasPrefix(said, "more than") {
					refused = append(refused, i)
				}
			}
			if !slices.Equal(refused, test.refused) {
				t.Errorf("refused are %d, not %d", refused, test.refused)
			}
			if left := b.values.Load(); test.refused == nil && left != 0 {
				t.Errorf("%d values are left", left)
			}
		})
	}
}
