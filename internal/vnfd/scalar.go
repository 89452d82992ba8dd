package vnfd

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the units of scalar-unit.size (TOSCA Simple Profile 1.3, clause
// 3.3.6.4) in bytes, in lower case because the letter case does not count.
var sizeUnits = map[string]float64{
	"b": 1, "kb": 1e3, "kib": 1 << 10, "mb": 1e6, "mib": 1 << 20,
	"gb": 1e9, "gib": 1 << 30, "tb": 1e12, "tib": 1 << 40,
}

// ParseSize returns a size such as "512 MB" or "1GiB" in bytes. A number
// without unit is in bytes.
func ParseSize(s string) (int64, error) {
	n, unit, err := splitScalar(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size; write a number and a unit, for example 512 MiB", s)
	}
	factor := 1.0
	if unit != "" {
		f, ok := sizeUnits[strings.ToLower(unit)]
		if !ok {
			return 0, fmt.Errorf("%q has the unknown unit %q of size; the units are B, kB, KiB, MB, MiB, GB, GiB, TB, TiB", s, unit)
		}
		factor = f
	}
	if n*factor >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is too large for a size", s)
	}
	return int64(math.Round(n * factor)), nil
}

// splitScalar separates the number from the unit; blanks between are allowed.
func splitScalar(s string) (float64, string, error) {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0, "", fmt.Errorf("reading the number of %q: %w", s, err)
	}
	return n, strings.TrimSpace(s[end:]), nil
}
