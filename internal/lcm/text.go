package lcm

import (
	"slices"
	"strconv"
	"strings"
)

func quote(s string) string { return strconv.Quote(s) }

// listOf renders names for a message: sorted, quoted, "none" when empty.
func listOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	sorted := slices.Sorted(slices.Values(names))
	for i, n := range sorted {
		sorted[i] = quote(n)
	}
	return strings.Join(sorted, ", ")
}
