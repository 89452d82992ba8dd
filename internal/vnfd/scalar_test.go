package vnfd

import "testing"

func TestParseSize(t *testing.T) {
	tests := map[string]int64{
		"0": 0, "17": 17, "512 MB": 512e6, "512MB": 512e6, "1 GiB": 1 << 30, "1gib": 1 << 30, "1.5 KiB": 1536,
		" 2  kB ": 2000, "3 B": 3, "1 TB": 1e12, "1 TiB": 1 << 40, "4 MiB": 4 << 20, "7GB": 7e9, "8 KB": 8000,
	}
	for s, want := range tests {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for s, want := range map[string]string{
		"":                 `"" is not a size; write a number and a unit, for example 512 MiB`,
		"MB":               `"MB" is not a size; write a number and a unit, for example 512 MiB`,
		"-1 MB":            `"-1 MB" is not a size; write a number and a unit, for example 512 MiB`,
		"1.2.3 MB":         `"1.2.3 MB" is not a size; write a number and a unit, for example 512 MiB`,
		"1 Mi":             `"1 Mi" has the unknown unit "Mi" of size; the units are B, kB, KiB, MB, MiB, GB, GiB, TB, TiB`,
		"8388608 TiB":      `"8388608 TiB" is too large for a size`,
		"1e400":            `"1e400" has the unknown unit "e400" of size; the units are B, kB, KiB, MB, MiB, GB, GiB, TB, TiB`,
		"9999999999999 TB": `"9999999999999 TB" is too large for a size`,
	} {
		if n, err := ParseSize(s); err == nil || err.Error() != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %s", s, n, err, want)
		}
	}
}
