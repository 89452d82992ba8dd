package openstack

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// FuzzClouds reads foreign clouds.yaml: no error repeats a secret, and all secrets of what can be read are known to the mask.
func FuzzClouds(f *testing.F) {
	const good = "clouds: { a: { auth: { auth_url: 'https://a', password: planted-secret }, verify: false } }\n"
	for _, text := range []string{
		good, "clouds: [planted-secret]", "clouds: { a: { auth: { token: planted-secret } }, b: {} }", "clouds: { a: { profile: planted-secret } }",
		"clouds: { a: { auth: &x { application_credential_secret: planted-secret } }, b: { auth: *x } }", "", "clouds: { a: { cacert: /x } }",
	} {
		f.Add(text, "a")
		f.Add(text, "")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		c, err := parseClouds(text, name)
		if err != nil {
			if strings.Contains(err.Error(), "planted-secret") && strings.Contains(good, text) && name != "planted-secret" {
				t.Errorf("the error tells the secret: %v", err)
			}
			return
		}
		known := strings.Join(SecretsIn(text), "\n")
		for _, secret := range []string{c.Auth.Password, c.Auth.Token, c.Auth.ApplicationCredentialSecret} {
			assert.Contains(t, known, secret, "the mask does not know")
		}
	})
}
