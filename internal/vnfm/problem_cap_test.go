package vnfm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func TestCapped(t *testing.T) {
	var few, many, warnings vnfm.Problems
	few.Warnf("a", 1, 1, "w")
	few.Errorf("a", 2, 1, "e")
	for range 3 {
		many.Warnf("a", 1, 1, "w")
		many.Errorf("b", 2, 1, "e")
		warnings.Warnf("a", 1, 1, "w")
	}
	tests := []struct {
		name string
		ps   vnfm.Problems
		most int
		want []string
	}{
		{"none left out", few, 2, []string{"a:1:1: w", "a:2:1: e"}},
		{"errors first", many, 4, []string{"b:2:1: e", "b:2:1: e", "b:2:1: e", "a:1:1: w", "a: further warnings are not listed: 2"}},
		{"errors left out", many, 2, []string{"b:2:1: e", "b:2:1: e", "further problems are not listed: errors 1, warnings 3"}},
		{"warnings alone", warnings, 1, []string{"a:1:1: w", "a: further warnings are not listed: 2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.ps.Capped(tt.most)
			var list []string
			for _, p := range got {
				list = append(list, p.String())
			}
			require.Equal(t, tt.want, list)
			require.Equal(t, tt.ps.HasErrors(), got.HasErrors(), "errors are hidden or made")
		})
	}
}
