package vnfd

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseSize(t *testing.T) {
	tests := map[string]int64{
		"0": 0, "17": 17, "512 MB": 512e6, "512MB": 512e6, "1 GiB": 1 << 30, "1gib": 1 << 30, "1.5 KiB": 1536,
		" 2  kB ": 2000, "3 B": 3, "1 TB": 1e12, "1 TiB": 1 << 40, "4 MiB": 4 << 20, "7GB": 7e9, "8 KB": 8000,
	}
	for s, want := range tests {
		if got, ok := parseSize(s); !ok || got != want {
			t.Errorf("parseSize(%q) = %d, %t; want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "MB", "-1 MB", "1.2.3 MB", "1 Mi", "8388608 TiB", "1e400", "9999999999999 TB"} {
		n, ok := parseSize(s)
		assert.False(t, ok, "parseSize(%q) = %d", s, n)
	}
}
