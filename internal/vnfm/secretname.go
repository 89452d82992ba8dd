package vnfm

import (
	"strings"
	"unicode"
)

// secretWords are the last words of names that are those of secrets; secretPairs the words
// before "key" with which a key is one: a public key, or the key of a map, is none.
var (
	secretWords = map[string]bool{
		"credential": true, "credentials": true, "kubeconfig": true, "passphrase": true, "passwd": true, "password": true, "secret": true, "token": true,
	}
	secretPairs = map[string]bool{"access": true, "api": true, "auth": true, "encryption": true, "private": true, "secret": true, "signing": true}
)

// NamesSecret reports whether a field, a parameter or a variable of that name holds a
// secret, by its last word: adminPassword, DB_PASSWORD, api-token, tls.privateKey. Names of
// objects that hold secrets (existingSecret) and settings of secrets (tokenTTL) are none.
func NamesSecret(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	last, before := words[len(words)-1], ""
	if len(words) > 1 {
		before = words[len(words)-2]
	}
	switch {
	case last == "key":
		return secretPairs[before]
	case last == "secret" && (before == "existing" || before == "pull"):
		return false
	}
	return secretWords[last]
}

// wordsOf are the words of a name in lower case: parted by punctuation, and where capitals
// begin a word (apiKey, APIKey).
func wordsOf(name string) []string {
	var parted strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(letters[i-1]) || (i+1 < len(letters) && unicode.IsLower(letters[i+1]))):
			parted.WriteByte(' ')
		}
		parted.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(parted.String())
}
