package vnfm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "adminPassword": true, "DB_PASSWORD": true, "api-token": true, "tls.privateKey": true, "AWS_SECRET_ACCESS_KEY": true,
		"clientSecret": true, "passwd": true, "APIKey": true, "apiKey": true, "API_KEY": true, "kubeconfig": true, "auth.passphrase": true,
		"sudo_password": true, "bootstrap-token": true, "client-key-data": true, ".dockerconfigjson": true, "rootpassword": true, "secret": true,
		"topologyKey": false, "tokenExpirationSeconds": false, "passwordSecretRef": false, "tls-secret": false, "": false, "key": false, "public_key": false, "keyName": false, "secretName": false, "existingSecret": false, "imagePullSecret": false,
		"tokenTTL": false, "passwordPolicy": false, "tokenReview": false, "secrets": false, "monkey": false, "APIs": false,
	} {
		require.Equal(t, want, NamesSecret(name), "NamesSecret(%q)", name)
	}
}

// TestSecretsInside searches documents for secrets; what would multiply when it is decoded costs what is written.
func TestSecretsInside(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 { password: planted-in-anchor }\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d { <<: [*a%d, *a%d, *a%d], list: [*a%d, *a%d] }\n", i, i, i-1, i-1, i-1, i-1, i-1)
	}
	for i := range 10_000 {
		fmt.Fprintf(&bomb, "key%d: v\n", i)
	}
	for name, tt := range map[string]struct {
		text string
		want []string
	}{
		"nested, with a number":       {"db:\n  user: app\n  password: planted\n  pin: 1\n  apiToken: 12\n", []string{"planted", "12"}},
		"JSON, base64 inside":         {`{"password": "cGxhbnRlZA=="}`, []string{"cGxhbnRlZA==", "planted"}},
		"a login of a registry":       {`{"auths":{"r.example":{"auth":"dTpwbGFudGVk"}}}`, []string{"dTpwbGFudGVk", "planted", "u:planted"}},
		"a URL, and no other one":     {"a: https://u:planted@x.example\nb: https://x.example\n", []string{"planted"}},
		"an alias, several documents": {"x: &x planted\n---\na: 1\n---\ny: &y second\ntoken: *y\n", []string{"second"}},
		"aliases and merge keys":      {bomb.String(), []string{"planted-in-anchor"}},
		"no document":                 {"password", nil},
		"not YAML":                    {"password: [", nil},
	} {
		require.Equal(t, tt.want, secretsInside(tt.text), name)
	}
}
func TestHideNamedLines(t *testing.T) {
	const text = "env:\n- name: DB_PASSWORD\n  value: planted\n- name: HOST\n  value: db\ndata:\n  tls.private-key: |-\n    planted\n    planted\n  other: |\n    kept\nargs:\n- --token=planted\n"
	const want = "env:\n- name: DB_PASSWORD\n  value: (sensitive)\n- name: HOST\n  value: db\ndata:\n  tls.private-key: (sensitive)\n  other: |\n    kept\nargs:\n- --token=(sensitive)\n"
	require.Equal(t, want, HideNamedLines(text))
}

func TestHideNamed(t *testing.T) {
	for line, want := range map[string]string{
		"--password=x":                               "--password=(sensitive)",
		"DB_PASSWORD='a b' exec":                     "DB_PASSWORD=(sensitive) exec",
		`{"api-key": "x", "n": 1}`:                   `{"api-key": (sensitive), "n": 1}`,
		`{"token":"x"}`:                              `{"token":(sensitive)}`,
		"db.password: hunter2":                       "db.password: (sensitive)",
		"args: password=x,user=y":                    "args: password=(sensitive),user=y",
		"url: postgres://u:p@db/x":                   "url: postgres://u:(sensitive)@db/x",
		"image: registry.example.com/vault-token:1":  "image: registry.example.com/vault-token:1",
		"automountServiceAccountToken: true":         "automountServiceAccountToken: true",
		"secret: creds":                              "secret: creds",
		"tokenTTL: 5":                                "tokenTTL: 5",
		"nothing at all: 12:30 http://example.com/a": "nothing at all: 12:30 http://example.com/a",
	} {
		require.Equal(t, want, HideNamed(line), "HideNamed(%q)", line)
	}
}
