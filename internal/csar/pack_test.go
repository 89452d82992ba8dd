package csar

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteZipIsDeterministic(t *testing.T) {
	a := goodPackage().archive()
	first, second := zipBytes(t, a), zipBytes(t, a)
	assert.True(t, bytes.Equal(first, second), "two zips of one package differ")
	back, err := openBytes(first, Limits{})
	require.NoError(t, err)
	assert.True(t, bytes.Equal(zipBytes(t, back), first), "a zip of a zip differs")
}

func TestHash(t *testing.T) {
	tests := []struct {
		name           string
		manifest, want string
		files          texts
		gone           []string
	}{
		{
			name:     "filled in, refreshed, added; algorithm, comments, order and external files kept",
			manifest: goodMetadata + "\n# the template\nSource: s.yaml\n\n  Source: a\n  Algorithm: SHA-512\n  Hash: 00\n  Content-Type: text/plain\nSource: https://example.com/x\nAlgorithm: SHA-256\nHash: " + sha("x") + "\nSource: s.mf\n",
			want: goodMetadata + "\n# the template\nSource: s.yaml\nAlgorithm: SHA-256\nHash: " + sha(rootText) + "\n\n  Source: a\n  Algorithm: SHA-512\n  Hash: a4abd4448c49562d828115d13a1fccea927f52b4d5459297f8b43e42da89238bc13626e43dcb38ddb082488927ec904fb42057443983e88585179d50551afe62\n  Content-Type: text/plain\nSource: https://example.com/x\nAlgorithm: SHA-256\nHash: " + sha("x") + "\nSource: s.mf\n" +
				source("b", "y"),
			files: texts{"a": "x", "b": "y", "s.cert": "not listed"},
		},
		{
			name:     "before the non-MANO sets",
			manifest: goodMetadata + source("s.yaml", rootText) + "\nnon_mano_artifact_sets:\n  onap_others:\n    Source: n\n",
			want:     goodMetadata + source("s.yaml", rootText) + source("b", "y") + "\nnon_mano_artifact_sets:\n  onap_others:\n    Source: n\n",
			files:    texts{"b": "y", "n": "x"},
		},
		{
			name: "files that are gone",
			manifest: goodMetadata + source("gone/a", "x") + "Content-Type: text/plain\n" + source("s.yaml", rootText) + "Source: gone/b\n" +
				"\nnon_mano_artifact_sets:\n  onap_others:\n    Source: gone/c\n    Source: n\n  next:\n    Source: gone/d\n  last:\n    Source: n\n",
			want: goodMetadata + source("s.yaml", rootText) +
				"\nnon_mano_artifact_sets:\n  onap_others:\n    Source: n\n  last:\n    Source: n\n",
			files: texts{"n": "x"},
			gone:  []string{"gone/a", "gone/b", "gone/c", "gone/d"},
		},
		{
			name:     "a set and nothing in it",
			manifest: goodMetadata + source("s.yaml", rootText) + "\nnon_mano_artifact_sets:\n  onap_others:\n    Source: gone\n",
			want:     goodMetadata + source("s.yaml", rootText),
			gone:     []string{"gone"},
		},
		{
			name:     "CRLF, and a signature that holds no more",
			manifest: crlf(goodMetadata + "Source: s.yaml\n-----BEGIN CMS-----\nMIIB\n-----END CMS-----\n"),
			want:     crlf(goodMetadata + strings.TrimPrefix(source("s.yaml", rootText), "\n")),
		},
		{
			name:     "nothing to do",
			manifest: goodMetadata + source("s.yaml", rootText),
			want:     goodMetadata + source("s.yaml", rootText),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			texts{"s.yaml": rootText, "s.mf": tt.manifest}.with(tt.files).write(t, dir)
			for range 2 { // The second time must change nothing.
				name, gone, err := Hash(dir)
				require.NoError(t, err)
				require.Equal(t, "s.mf", name)
				assert.Equal(t, tt.gone, gone, "files that are gone")
				tt.gone = nil
				got, err := os.ReadFile(filepath.Join(dir, "s.mf"))
				require.NoError(t, err)
				require.Equal(t, tt.want, string(got), "manifest")
			}
		})
	}
}

func TestHashErrors(t *testing.T) {
	tests := map[string]struct {
		files texts
		want  string
	}{
		"no manifest": {texts{"TOSCA-Metadata/TOSCA.meta": tackerMeta, "Definitions/vnfd.yaml": vnfdText}, "it has no manifest; create one with its metadata and name it in TOSCA.meta with ETSI-Entry-Manifest"},
		"unreadable":  {texts{"s.yaml": rootText, "s.mf": "nonsense\n"}, `s.mf:1:1: line is not "key: value" but "nonsense"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tt.files.write(t, dir)
			_, _, err := Hash(dir)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestSignReplaces(t *testing.T) {
	root := issue(t, "Root", nil, authority)
	leaf := issue(t, "Leaf", root, nil)
	manifest := goodPackage()["vnfd.mf"]
	twice := leaf.signManifest(t, leaf.signManifest(t, manifest))
	require.Equal(t, 1, strings.Count(twice, "BEGIN CMS"))
	assert.True(t, strings.HasPrefix(twice, manifest+"-----BEGIN CMS-----\n"), "manifest signed twice:\n%s", twice)
	signed := leaf.signManifest(t, strings.TrimSuffix(manifest, "\n"))
	p, problems := Read(goodPackage().with(texts{"vnfd.mf": signed}).archive(), Options{Signature: SignatureRequire, Trust: Trust{Roots: certPEM(root.cert)}})
	require.Empty(t, problems)
	assert.True(t, p.Security.Verified, "a manifest without final newline: %q", render(problems))
}

func TestSignErrors(t *testing.T) {
	leaf, other := issue(t, "Leaf", nil, nil), issue(t, "Other", nil, nil)
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(edwards)
	require.NoError(t, err)
	block := func(kind string, data []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}) }
	tests := map[string]struct {
		certificate, key []byte
		want             string
	}{
		"no certificate":    {nil, leaf.keyPEM(t), "signing the package: reading the certificate: there is no certificate in it"},
		"no key":            {leaf.bundle(), leaf.bundle(), "signing the package: reading the key: there is no PEM private key in it"},
		"key of another":    {leaf.bundle(), other.keyPEM(t), `signing the package: the key does not belong to the certificate "CN=Leaf"`},
		"encrypted key":     {leaf.bundle(), block("ENCRYPTED PRIVATE KEY", []byte("x")), "signing the package: reading the key: the key is encrypted; decrypt it first"},
		"damaged key":       {leaf.bundle(), block("EC PRIVATE KEY", []byte("secret")), "signing the package: reading the key: the private key cannot be decoded"},
		"unsupported key":   {leaf.bundle(), block("PRIVATE KEY", der), "signing the package: reading the key: the key is ed25519.PrivateKey; CMS signatures of packages use RSA or ECDSA"},
		"wrong PKCS #1 key": {leaf.bundle(), block("RSA PRIVATE KEY", []byte("secret")), "signing the package: reading the key: the private key cannot be decoded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := SignOption2([]byte("x"), tt.certificate, tt.key)
			require.EqualError(t, err, tt.want)
		})
	}
	_, err = SignOption1([]byte("nonsense"), leaf.bundle(), leaf.keyPEM(t))
	require.ErrorContains(t, err, "manifest:1:1: line is not", "a manifest that cannot be read")
}
