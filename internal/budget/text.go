package budget

import "strings"

// MaxText bounds the text of a problem, in bytes: a name or a value can be as long as its file.
const MaxText = 2_000

// Clip leaves out the middle of a text that is too long for a problem.
func Clip(text string) string {
	if len(text) <= MaxText {
		return text
	}
	const half = MaxText / 2
	return strings.ToValidUTF8(text[:half], "") + " [...] " + strings.ToValidUTF8(text[len(text)-half:], "")
}
