// Package printable escapes control characters of foreign texts. A terminal would execute them: change its title or the clipboard, move
// the cursor, reverse the direction of text.
package printable

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text writes control and format characters (Unicode's classes Cc and Cf, without newline and tab) as JSON does, such as \u001b. Bytes that
// are no UTF-8 become U+FFFD.
func Text(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hidden reports whether a terminal executes or hides the character.
func hidden(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// Writer writes texts to another writer as Text has them.
type Writer struct {
	To io.Writer
	// begun holds the first bytes of a character that the next write completes.
	begun []byte
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	text := slices.Concat(w.begun, p)
	whole := len(text) - unfinished(text)
	w.begun = text[whole:]
	if _, err := io.WriteString(w.To, Text(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// unfinished is the number of bytes at the end that begin a character and do not end it.
func unfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if begin := text[len(text)-n:]; utf8.RuneStart(begin[0]) {
			if utf8.FullRune(begin) {
				return 0
			}
			return n
		}
	}
	return 0
}
