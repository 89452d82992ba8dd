package kube

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const fuzzSecret = "planted-secret"

// FuzzKubeconfig reads foreign kubeconfigs: no error repeats a secret, and a valid one refers to
// nothing outside its text.
func FuzzKubeconfig(f *testing.F) {
	const good = `{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: c, cluster: {server: "https://a:6443", certificate-authority-data: Zm9v}}],
contexts: [{name: a, context: {cluster: c, user: u}}], users: [{name: u, user: {token: planted-secret}}]}`
	f.Add(good)
	for _, change := range []string{"token: planted-secret, exec: {command: x}", "tokenFile: /x", "client-key-data: cGxhbnRlZC1zZWNyZXQ=", "token: [planted-secret]", "password: planted-secret"} {
		f.Add(strings.Replace(good, "token: planted-secret", change, 1))
	}
	f.Add("{clusters: [{name: c, cluster: &a {server: x}}], contexts: &b [*a, *a]}")
	f.Add("")
	f.Add("{kind: planted-secret}")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ReadKubeconfig(text)
		if err != nil {
			if strings.Contains(err.Error(), fuzzSecret) {
				// A name may be any text, even the secret's.
				assert.NotEqual(t, strings.Count(good, fuzzSecret), strings.Count(text, fuzzSecret), "the error tells the secret: %v", err)
			}
			return
		}
		written, err := KubeconfigFor(text, "other", []byte("certificate"), []byte("key"))
		require.NoError(t, err, "a kubeconfig that is read cannot be written for another user")
		again, err := ReadKubeconfig(written)
		require.NoError(t, err, "what was written cannot be read: %v\n%s", err, written)
		if again.Host != k.Host || again.CACertificate != k.CACertificate || again.Token != "" {
			t.Errorf("it leads elsewhere:\n%s", written)
		}
	})
}
