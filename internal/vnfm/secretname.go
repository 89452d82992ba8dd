package vnfm

import (
	"slices"
	"strings"
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
