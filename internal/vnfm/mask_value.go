package vnfm

import (
	"strings"
	"unicode/utf8"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

var (
	// introduces is what stands before a value: a name with = or :, an arrow, a flag, the dash of
	// a list.
	introduces = lazyregexp.New(`(?:[=:]|[=-]>|%3[AaDd])[ \t]*$|(?:^|\s)--?[A-Za-z][-\w]*[ \t]+$|(?:^|\n)[ \t]*-[ \t]+$`)
	opens      = lazyregexp.New(`(?:["'` + "`" + `]|%2[27]|&quot;|&#3[49];|&#x2[27];|\\u002[27])$`)
	closes     = lazyregexp.New(`^\\*(?:["'` + "`" + `]|%2[27]|&quot;|&#3[49];|&#x2[27];|u002[27])`)
	listOpens  = lazyregexp.New(`[\[{(,][ \t]*$`)
	listCloses = lazyregexp.New(`^[ \t]*[\]}),]`)
	lineOpens  = lazyregexp.New(`(?:^|\n|\\n)[ \t]*$`)
	lineCloses = lazyregexp.New(`^[ \t]*(?:$|\r?\n|\\n)`)
)

// isValue reports whether a part of a text stands there as a value: in quotes, behind =, : or a
// flag, in a list, or alone in its line; and is not part of a word.
func isValue(text string, at, end int) bool {
	if inWord(text, at, end) {
		return false
	}
	before, after := text[max(0, at-64):at], text[end:min(len(text), end+64)]
	return opens.MatchString(before) && closes.MatchString(after) || introduces.MatchString(before) ||
		listOpens.MatchString(before) && listCloses.MatchString(after) || lineOpens.MatchString(before) && lineCloses.MatchString(after)
}

// inWord reports whether a part of a text goes on as a word, with points and hyphens inside.
func inWord(text string, at, end int) bool {
	last, size := utf8.DecodeLastRuneInString(text[:at])
	if isWord(last) && !escapeEnds(text, at) {
		return true
	}
	if last == '.' || last == '-' {
		if before, _ := utf8.DecodeLastRuneInString(text[:at-size]); isWord(before) {
			return true
		}
	}
	next, size := utf8.DecodeRuneInString(text[end:])
	if next == '.' || next == '-' {
		next, _ = utf8.DecodeRuneInString(text[end+size:])
	}
	return isWord(next)
}

// inNumber reports whether a part of a text goes on as a number.
func inNumber(text string, at, end int) bool {
	isDigit := func(i int) bool { return i >= 0 && i < len(text) && strings.IndexByte("0123456789", text[i]) >= 0 }
	isPoint := func(i int) bool { return i >= 0 && i < len(text) && text[i] == '.' }
	before := isDigit(at-1) && !escapeEnds(text, at) || isPoint(at-1) && isDigit(at-2)
	return before || isDigit(end) || isPoint(end) && isDigit(end+1)
}
