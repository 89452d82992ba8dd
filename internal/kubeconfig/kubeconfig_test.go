package kubeconfig_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/kubeconfig"
)

const key = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"

func TestSecrets(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte(key))
	text := "users:\n- name: a\n  user: {token: t}\n- name: b\n  user: {username: u, password: p}\n- name: c\n  user: {client-key-data: " + encoded + "}\n"
	if diff := cmp.Diff([]string{"t", "p", encoded, key}, kubeconfig.Secrets(text)); diff != "" {
		t.Error(diff)
	}
	if got := kubeconfig.Secrets("a: ["); got != nil {
		t.Errorf("a text that is no YAML has secrets %v", got)
	}
}

// TestParseKeepsSecrets damages a kubeconfig at every position: no error may
// repeat what stands there.
func TestParseKeepsSecrets(t *testing.T) {
	t.Parallel()
	const secret = "geheim4711"
	text := "kind: Config\ncurrent-context: a\ncontexts:\n- {name: a, context: {cluster: c, user: u}}\nclusters:\n- {name: c, cluster: {server: \"https://h\"}}\nusers:\n" +
		"- name: u\n  user: {token: " + secret + ", client-key-data: " + secret + "x, client-certificate-data: " + secret + "y}\n"
	for i := range text {
		for _, damage := range []string{"", "[", "\t", ": ", "*", "&x "} {
			damaged := text[:i] + damage + text[i+1:]
			_, err := kubeconfig.Parse(damaged, "")
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Fatalf("position %d, %q: the error holds the secret: %v", i, damage, err)
			}
		}
	}
}

func TestWays(t *testing.T) {
	t.Parallel()
	c := kubeconfig.Config{Token: "t", Username: "u", ClientCertificate: "c"}
	if diff := cmp.Diff([]string{"token", "username and password", "client certificate"}, kubeconfig.Ways(&c)); diff != "" {
		t.Error(diff)
	}
}
