package vnfm

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// ShownSecrets are the paths of secrets among values that everybody may read who reads the
// plan: texts that go by the name of a secret, and URLs with a password. The path of the value
// itself is at.
func ShownSecrets(at string, value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			out = append(out, ShownSecrets(at+"."+key, value[key])...)
		}
	case []any:
		for n, item := range value {
			out = append(out, ShownSecrets(fmt.Sprintf("%s[%d]", at, n), item)...)
		}
	case string:
		name := strings.TrimRight(at[strings.LastIndexByte(at, '.')+1:], "[0123456789]")
		// Charts and classes name an object in a field that is just called secret.
		if value != "" && (NamesSecret(name) && !strings.EqualFold(name, "secret") || HasPassword(value)) {
			out = append(out, at)
		}
	}
	return out
}

// HasPassword reports whether a text is a URL with a password.
func HasPassword(text string) bool {
	if !strings.Contains(text, "@") {
		return false
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return false
	}
	password, _ := u.User.Password()
	return u.Host != "" && password != ""
}
