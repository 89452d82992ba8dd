package vnfm

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The ways to write a character that a text cannot have as it is.

// named are the letters of characters behind a backslash.
var named = map[rune]byte{'\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f', '\v': 'v', '\a': 'a', 0: '0', 0x1b: 'e'}

// maxBackslashes and maxPercents bound how often a text is escaped: of backslashes three times
// take seven.
const (
	maxBackslashes = 15
	maxPercents    = 4
)

// backslashed reads a character behind backslashes, or a backslash.
func backslashed(out []int, text string, at int, char string, r rune) []int {
	n := 1
	for n < maxBackslashes && at+n < len(text) && text[at+n] == '\\' {
		n++
	}
	if r == '\\' {
		for i := 2; i <= n; i++ {
			out = append(out, at+i)
		}
		return out
	}
	rest := text[at+n:]
	if rest == "" {
		return out
	}
	if !isWord(r) && strings.HasPrefix(rest, char) {
		out = append(out, at+n+len(char))
	}
	if letter, ok := named[r]; ok && rest[0] == letter {
		out = append(out, at+n+1)
	}
	if end := unicodeEscape(rest, r); end > 0 {
		out = append(out, at+n+end)
	}
	if end := byteEscapes(text[at:], char); end > 0 {
		out = append(out, at+end)
	}
	return out
}

// unicodeEscape reads u, U or x with the number of a character and returns where it ends; 0 when
// it is another.
func unicodeEscape(text string, r rune) int {
	digits := 0
	switch text[0] {
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case 'x':
		digits = 2
	default:
		return 0
	}
	got, ok := hexRune(text[1:], digits)
	if ok && got == r {
		return 1 + digits
	}
	high, low := utf16.EncodeRune(r)
	if !ok || text[0] != 'u' || got != high {
		return 0
	}
	second := strings.TrimLeft(text[1+digits:], `\`)
	if got, ok = hexRune(strings.TrimPrefix(second, "u"), digits); ok && got == low {
		return len(text) - len(second) + 1 + digits
	}
	return 0
}

func hexRune(text string, digits int) (rune, bool) {
	if len(text) < digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:digits], 16, 32)
	return rune(n), err == nil //nolint:gosec // at most 32 bits, and only compared
}

// byteEscapes reads the bytes of a character, each as \xff or \377, and returns where they end.
func byteEscapes(text, char string) int {
	rest := text
	for i := range len(char) {
		rest = strings.TrimLeft(rest, `\`)
		digits, base := 3, 8
		if hex, ok := strings.CutPrefix(rest, "x"); ok {
			rest, digits, base = hex, 2, 16
		}
		if len(rest) < digits {
			return 0
		}
		if n, err := strconv.ParseUint(rest[:digits], base, 16); err != nil || n != uint64(char[i]) {
			return 0
		}
		rest = rest[digits:]
	}
	return len(text) - len(rest)
}

// percented reads the bytes of a character, each as %ff, in a URL that may be escaped itself.
func percented(out []int, text string, at int, char string) []int {
	if char == "" {
		return append(out, at)
	}
	hex, ok := strings.CutPrefix(text[at:], "%")
	for n := 0; ok && len(hex) >= 2 && n < maxPercents; n++ {
		if got, err := strconv.ParseUint(hex[:2], 16, 8); err == nil && byte(got) == char[0] {
			out = percented(out, text, len(text)-len(hex)+2, char[1:])
		}
		// The percent sign is escaped once more.
		hex, ok = strings.CutPrefix(hex, "25")
	}
	return out
}

// entity reads a character as HTML and XML write it.
func entity(out []int, text string, at int, char string) []int {
	const longest = 10
	end := strings.IndexByte(text[at:min(len(text), at+longest)], ';')
	if end > 0 && html.UnescapeString(text[at:at+end+1]) == char {
		out = append(out, at+end+1)
	}
	return out
}

// escapeEnds reports whether an escaped character ends at a place of a text, whose letters and
// digits are not part of a word.
func escapeEnds(text string, at int) bool {
	before := text[:at]
	for length, prefix := range map[int]string{2: `\`, 3: "%", 4: `\x`, 6: `\u`} {
		if at < length || !strings.HasPrefix(before[at-length:], prefix) {
			continue
		}
		digits := before[at-length+len(prefix):]
		if length == 2 {
			return digits == "n" || digits == "r" || digits == "t"
		}
		if _, ok := hexRune(digits, len(digits)); ok && utf8.ValidString(digits) {
			return true
		}
	}
	return false
}
