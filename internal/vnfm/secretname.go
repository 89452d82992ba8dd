package vnfm

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
)

var (
	secretNames = []string{
		"accesskey", "apikey", "authkey", "clientkey", "credential", "credentials", "dockerconfigjson", "encryptionkey", "keydata", "keyfilecontent", "kubeconfig",
		"passphrase", "passwd", "password", "privatekey", "secret", "secretkey", "signingkey", "token",
	}
	// Charts and Kubernetes call the name of a Secret so.
	namesOfSecrets = []string{"pullsecret", "tlssecret", "certsecret", "certificatesecret", "credentialssecret", "casecret"}
	// joints is made once: the predicate is asked for each field of each object.
	joints = strings.NewReplacer("_", "", "-", "", ".", "")
)

// NamesSecret reports whether a field, a parameter or a variable of that name holds a
// secret, by how the name ends, however its words are put together: adminPassword,
// DB_PASSWORD, api-token, tls.privateKey. Names of objects that hold secrets
// (existingSecret) and settings of secrets (tokenTTL) are none.
func NamesSecret(name string) bool {
	name = joints.Replace(strings.ToLower(name))
	ends := func(words []string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(name, word) })
	}
	return ends(secretNames) && !ends(namesOfSecrets) && !strings.HasPrefix(name, "existing")
}

// NamedSecrets are the texts and numbers in a value that go by the name of a secret, and the
// passwords in URLs and in the logins of registries.
func NamedSecrets(value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			out = append(out, fieldSecrets(name, item)...)
			out = append(out, NamedSecrets(item)...)
		}
	case []any:
		for _, item := range value {
			out = append(out, NamedSecrets(item)...)
		}
	}
	return out
}

// fieldSecrets are the secrets in one field that is a text or a number.
func fieldSecrets(name string, value any) []string {
	var out []string
	if NamesSecret(name) {
		out = scalarTexts(value)
	}
	text, ok := value.(string)
	if !ok {
		return out
	}
	if u, err := url.Parse(text); err == nil && u.User != nil {
		if password, given := u.User.Password(); given {
			out = append(out, password)
		}
	}
	if name != "auth" {
		return out
	}
	if login, err := base64.StdEncoding.DecodeString(text); err == nil {
		_, password, _ := strings.Cut(string(login), ":")
		out = append(out, text, password)
	}
	return out
}

// Unshown are the secrets that are not in clear in a value as well, by a name that is no
// secret's: of a user whose password is his name, an error may say who he is.
func Unshown(secrets []string, value any) []string {
	shown := shownTexts(value)
	return slices.DeleteFunc(slices.Clone(secrets), func(text string) bool { return slices.Contains(shown, text) })
}

// shownTexts are the texts in a value that do not go by the name of a secret.
func shownTexts(value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			if len(scalarTexts(item)) == 0 || !NamesSecret(name) {
				out = append(out, shownTexts(item)...)
			}
		}
	case []any:
		for _, item := range value {
			out = append(out, shownTexts(item)...)
		}
	default:
		out = scalarTexts(value)
	}
	return out
}

// maxDocument is the size of a text, in bytes, from which it is not searched for secrets.
const maxDocument = 256 << 10

// secretsInside are the secrets in a text that holds documents of YAML or JSON, and what is
// encoded there. The text may be hostile: its nodes are walked as they are written, since
// decoding multiplies aliases and merge keys, and compares each key of a mapping with all others.
func secretsInside(text string) []string {
	if len(text) > maxDocument || !strings.Contains(text, ":") {
		return nil
	}
	var out []string
	for documents := yaml.NewDecoder(strings.NewReader(text)); ; {
		var document yaml.Node
		if err := documents.Decode(&document); err != nil {
			break
		}
		out = appendNodeSecrets(out, &document)
	}
	for _, inner := range out {
		if raw, err := base64.StdEncoding.DecodeString(inner); err == nil {
			out = append(out, string(raw))
		}
	}
	return out
}

// appendNodeSecrets appends the secrets of a node; what an alias stands for is read where it is
// written.
func appendNodeSecrets(out []string, node *yaml.Node) []string {
	for i, item := range node.Content {
		out = appendNodeSecrets(out, item)
		if node.Kind != yaml.MappingNode || i%2 == 0 {
			continue
		}
		if item.Kind == yaml.AliasNode {
			item = item.Alias
		}
		var value any
		if item.Kind == yaml.ScalarNode && item.Decode(&value) == nil {
			out = append(out, fieldSecrets(node.Content[i-1].Value, value)...)
		}
	}
	return out
}

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

var passwordOfURL = lazyregexp.New(`([A-Za-z][A-Za-z0-9+.-]*://[^/?#\s:@]*:)[^/\s]+@`)

// HasPassword reports whether a text is a URL with a password.
func HasPassword(text string) bool {
	if !strings.Contains(text, "@") {
		return false
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		// A password with characters that a URL must escape is one, too.
		return passwordOfURL.MatchString(text)
	}
	password, _ := u.User.Password()
	return u.Host != "" && password != ""
}

var assignedValue = lazyregexp.New(`([A-Za-z_][A-Za-z0-9_.-]*)(["']?\s*=\s*|["']?\s*:\s+|["']\s*:\s*)("[^"]*"|'[^']*'|[^\s,;&"']+)`)

// HideNamed replaces in one line what goes by the name of a secret, as in --password=x, token: x or {"api-key": "x"}, and passwords of URLs.
func HideNamed(line string) string {
	line = passwordOfURL.ReplaceAllString(line, "${1}"+mask+"@")
	return assignedValue.ReplaceAllStringFunc(line, func(found string) string {
		part := assignedValue.FindStringSubmatch(found)
		name, between, value := part[1], part[2], part[3]
		switch {
		case !NamesSecret(name) || strings.EqualFold(name, "secret"):
			return name + between + HideNamed(value)
		case value == "true" || value == "false" || value == "null":
			return found
		default:
			return name + between + mask
		}
	})
}

var (
	elementName  = lazyregexp.New(`^\s*(?:- )?name: ["']?([^"'\s]+)`)
	elementValue = lazyregexp.New(`^(\s*value: ).`)
)

// HideNamedLines is HideNamed for a text of several lines, such as a document of YAML: a value can be on the line behind its name, and
// consist of several.
func HideNamedLines(text string) string {
	lines := strings.Split(text, "\n")
	out := lines[:0]
	const nothing = -1
	block, named := nothing, false
	for _, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if block != nothing && (indent > block || strings.TrimSpace(line) == "") {
			continue
		}
		block = nothing
		clean := HideNamed(line)
		if value := elementValue.FindStringSubmatch(line); named && value != nil {
			clean = value[1] + mask
		}
		if end := strings.TrimRight(line, "+-0123456789"); clean != line && (strings.HasSuffix(end, ": |") || strings.HasSuffix(end, ": >")) {
			block = indent
		}
		name := elementName.FindStringSubmatch(line)
		named = name != nil && NamesSecret(name[1])
		out = append(out, clean)
	}
	return strings.Join(out, "\n")
}

// TextsIn are the texts and the numbers, as texts, in a value of maps and lists.
func TextsIn(value any) []string {
	var out []string
	switch value := value.(type) {
	case map[string]any:
		for _, item := range value {
			out = append(out, TextsIn(item)...)
		}
	case []any:
		for _, item := range value {
			out = append(out, TextsIn(item)...)
		}
	default:
		out = scalarTexts(value)
	}
	return out
}

// SecretsIn are TextsIn of a value of which any may be a secret.
func SecretsIn(value any) []Secret {
	var out []Secret
	for _, text := range TextsIn(value) {
		out = append(out, Secret(text))
	}
	return out
}

// scalarTexts are the ways to write a text or a number; none of another value: of a boolean
// there is nothing to hide.
func scalarTexts(value any) []string {
	switch value := value.(type) {
	case string:
		return []string{value}
	case int:
		return []string{strconv.Itoa(value)}
	case int64:
		return []string{strconv.FormatInt(value, 10)}
	case float64:
		plain, short := strconv.FormatFloat(value, 'f', -1, 64), strconv.FormatFloat(value, 'g', -1, 64)
		if plain == short {
			return []string{plain}
		}
		return []string{plain, short}
	}
	return nil
}
