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

// TestCheckLogin: the user of a kubeconfig has one way to log in, or a client certificate beside a token, both of which client-go sends.
func TestCheckLogin(t *testing.T) {
	t.Parallel()
	certificate := "client-certificate-data: Yw==, client-key-data: aw=="
	for user, want := range map[string]string{
		"{token: t, " + certificate + "}":                 "",
		"{token: t, username: u, password: p}":            `the user of context "a" has several ways of authentication: token, username and password; keep one`,
		"{username: u, password: p, " + certificate + "}": `the user of context "a" has several ways of authentication: username and password, client certificate; keep one`,
		"{auth-provider: {name: oidc}}":                   `context "a" logs in with the plugin "oidc" (auth-provider), and the provider runs none; give a token as bearer_token, or the path of a file that has it as token_file`,
		`{exec: {command: aws, args: [eks, get-token, "--token=planted", "${x}"], apiVersion: client.authentication.k8s.io/v1}}`: `context "a" logs in with a plugin (exec), which runs the program "aws", and the provider runs no program that a kubeconfig names; ` +
			`give endpoint and ca_certificate instead of the kubeconfig, and exec = { command = "aws", args = ["eks", "get-token", "--token=(sensitive)", "$${x}"], api_version = "client.authentication.k8s.io/v1" }`,
	} {
		c, err := kubeconfig.Read("contexts:\n- {name: a, context: {cluster: c, user: u}}\nclusters:\n- {name: c, cluster: {server: \"https://h\"}}\nusers:\n- name: u\n  user: "+user+"\n", "")
		if err != nil {
			t.Errorf("%s: %v", user, err)
			continue
		}
		got := ""
		if err := c.CheckLogin(); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", user, diff)
		}
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("clusters: []\ncontexts: []\n"))
	if _, err := kubeconfig.Read(encoded, ""); err == nil || !strings.Contains(err.Error(), "base64decode()") {
		t.Errorf("base64: %v", err)
	}
}
