package vnfd

import (
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

// parseSize returns a size such as "512 MB" or "1GiB" in bytes; blanks before the unit are allowed, and a number without one is in bytes.
func parseSize(s string) (size int64, ok bool) {
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	factor, known := 1.0, true
	if unit := strings.TrimSpace(s[end:]); unit != "" {
		factor, known = sizeUnits[strings.ToLower(unit)]
	}
	if err != nil || !known || n*factor >= math.MaxInt64 {
		return 0, false
	}
	return int64(math.Round(n * factor)), true
}
