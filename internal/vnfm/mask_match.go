package vnfm

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cuts are what stands where somebody has cut a text off.
var cuts = []string{"...", "…", "[...", " [...]", "[truncated", "(truncated", "<truncated", "<snip"}

// maxIndent bounds in how many places a line may begin.
const maxIndent = 64

// match returns where the pattern ends in a text that has it at a place; 0 when it has not.
// The first bytes of the pattern can be left out, and the last ones where a text is cut off.
func (p *pattern) match(text string, at, from int, cuts bool) int {
	// An escaped text can be read in several ways, so that there are several places.
	var places [8]int
	live, next := append(places[:0:4], at), places[4:4]
	cut, n := 0, 0
	for off := from; off < len(p.text); n++ {
		r, size := utf8.DecodeRuneInString(p.text[off:])
		next = next[:0]
		for _, pos := range live {
			if cuts && p.least > 0 && n >= p.least && isCut(text, pos) {
				cut = max(cut, pos)
			}
			if pos < len(text) {
				next = p.step(next, text, pos, p.text[off:off+size], r, n > 0)
			}
		}
		if len(next) == 0 {
			return cut
		}
		if len(next) > 1 {
			slices.Sort(next)
			next = slices.Compact(next)
		}
		live, next = next, live
		off += size
	}
	end := 0
	for _, pos := range live {
		if p.stands(text, at, pos) {
			end = max(end, pos)
		}
	}
	return max(end, cut)
}

// matchRest is match where the beginning of the secret was cut off, and what follows is not
// escaped.
func (p *pattern) matchRest(text string, at int) int {
	if p.least == 0 || len(text)-at < minMasked {
		return 0
	}
	begin := text[at : at+minMasked]
	// Where the end of a text is shown, the end of the secret is.
	for off := max(1, len(p.text)-maxEncoded); utf8.RuneStart(text[at]); off++ {
		next := strings.Index(p.text[min(off, len(p.text)):], begin)
		if next < 0 {
			return 0
		}
		off += next
		if end := p.match(text, at, off, true); end > 0 {
			return end
		}
	}
	return 0
}

// stands reports whether what is found is at a place where the pattern is masked.
func (p *pattern) stands(text string, at, end int) bool {
	switch p.where {
	case asValue:
		return isValue(text, at, end)
	case wholeNumber:
		return !inNumber(text, at, end)
	default:
		return true
	}
}

// isCut reports whether a text was cut off at a place.
func isCut(text string, at int) bool {
	return at == len(text) || slices.ContainsFunc(cuts, func(cut string) bool { return strings.HasPrefix(text[at:], cut) })
}

// afterCut reports whether what was before a place in a text was cut off.
func afterCut(text string, at int) bool {
	return at == 0 || strings.HasSuffix(text[:at], "...") || strings.HasSuffix(text[:at], "…") || strings.HasSuffix(text[:at], "[...] ")
}

// step adds the places of a text up to which one character can be read at a place.
func (p *pattern) step(out []int, text string, at int, char string, r rune, inside bool) []int {
	if p.wraps && inside {
		at = afterWrap(text, at)
	}
	rest := text[at:]
	if strings.HasPrefix(rest, char) {
		out = append(out, at+len(char))
		if isWord(r) {
			return out
		}
	}
	if rest == "" {
		return out
	}
	switch rest[0] {
	case '\\':
		out = backslashed(out, text, at, char, r)
	case '%':
		out = percented(out, text, at, char)
	case '&':
		out = entity(out, text, at, char)
	}
	switch {
	case r == utf8.RuneError:
		out = replacement(out, text, at)
	case r == ' ':
		if rest[0] == '+' {
			out = append(out, at+1)
		} else {
			out = percented(out, text, at, "+")
		}
		out = lineBreak(out, text, at)
	case r == '\n':
		out = lineBreak(out, text, at)
	case r == '\r':
		// Not everybody keeps it.
		out = append(out, at)
	case strings.ContainsRune(`'"$%{}`, r):
		out = doubled(out, text, at, r)
	}
	return out
}

// afterWrap is the place behind the end of a line and the indentation of the next.
func afterWrap(text string, at int) int {
	for _, wrap := range []string{"\r\n", "\n", `\r\n`, `\n`, `\\n`} {
		if rest, ok := strings.CutPrefix(text[at:], wrap); ok {
			return len(text) - len(strings.TrimLeft(rest, " \t"))
		}
	}
	return at
}

// replacement reads what others write for bytes that are not UTF-8: one for each, or for all of
// a row.
func replacement(out []int, text string, at int) []int {
	const char = "\uFFFD"
	if strings.HasPrefix(text[at:], char) {
		out = append(out, at+len(char))
	}
	if strings.HasSuffix(text[:at], char) {
		out = append(out, at)
	}
	return out
}

// lineBreak reads the end of a line and the indentation of the next, as blocks and folded
// texts of YAML have them.
func lineBreak(out []int, text string, at int) []int {
	rest := strings.TrimPrefix(strings.TrimPrefix(text[at:], `\`), "\r")
	rest, ok := strings.CutPrefix(rest, "\n")
	if !ok {
		return out
	}
	// A deeper indentation begins there.
	end := len(text) - len(strings.TrimLeft(rest, " \t\\"))
	for pos := len(text) - len(rest); pos < min(end, len(text)-len(rest)+maxIndent); pos++ {
		out = append(out, pos)
	}
	return append(out, end)
}

// doubled reads a quote or another special character that is written twice, or as shells do
// within quotes.
func doubled(out []int, text string, at int, r rune) []int {
	forms := []string{string(r) + string(r)}
	if r == '\'' {
		forms = append(forms, `'\''`, `'"'"'`, `'\\''`, `'\"'\"'`)
	}
	for _, form := range forms {
		if strings.HasPrefix(text[at:], form) {
			out = append(out, at+len(form))
		}
	}
	return out
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
