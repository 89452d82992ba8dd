package vnfm

import (
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest is the one of some names that a mistyped one most likely means: it differs in few
// letters, or begins with the same half. It is empty when none does.
func Nearest(name string, names []string) string {
	best, out := max(len(name)/3, 1)+1, ""
	for _, other := range names {
		if d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(other), nil); d < best {
			best, out = d, other
		}
	}
	if out != "" {
		return out
	}
	for _, other := range names {
		if common(name, other) >= max(len(name)/2, 3) {
			return other
		}
	}
	return ""
}

// common is the length of what two texts begin with alike.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
