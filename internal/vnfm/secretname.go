package vnfm

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	secretNames = []string{
		"accesskey", "apikey", "authkey", "clientkey", "credential", "credentials", "dockerconfigjson", "encryptionkey", "keydata", "keyfilecontent", "kubeconfig",
		"passphrase", "passwd", "password", "privatekey", "secret", "secretkey", "signingkey", "token",
	}
	// Charts and Kubernetes call the name of a Secret so.
	namesOfSecrets = []string{"pullsecret", "tlssecret", "certsecret", "certificatesecret", "credentialssecret", "casecret"}
)

// NamesSecret reports whether a field, a parameter or a variable of that name holds a
// secret, by how the name ends, however its words are put together: adminPassword,
// DB_PASSWORD, api-token, tls.privateKey. Names of objects that hold secrets
// (existingSecret) and settings of secrets (tokenTTL) are none.
func NamesSecret(name string) bool {
	name = strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))
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
			if NamesSecret(name) {
				out = append(out, ScalarTexts(item)...)
			}
			if text, ok := item.(string); ok {
				if u, err := url.Parse(text); err == nil {
					password, _ := u.User.Password()
					out = append(out, password)
				}
				if login, err := base64.StdEncoding.DecodeString(text); err == nil && name == "auth" {
					_, password, _ := strings.Cut(string(login), ":")
					out = append(out, text, password)
				}
			}
			out = append(out, NamedSecrets(item)...)
		}
	case []any:
		for _, item := range value {
			out = append(out, NamedSecrets(item)...)
		}
	}
	return out
}

// maxDocument is the size of a text from which it is no document that anybody wrote.
const maxDocument = 1 << 20

// secretsInside are the secrets in a text that is a document of YAML or JSON, and what is encoded
// there.
func secretsInside(text string) []string {
	var document map[string]any
	if len(text) > maxDocument || !strings.Contains(text, ":") || yaml.Unmarshal([]byte(text), &document) != nil {
		return nil
	}
	out := NamedSecrets(document)
	for _, inner := range out {
		if raw, err := base64.StdEncoding.DecodeString(inner); err == nil {
			out = append(out, string(raw))
		}
	}
	return out
}
