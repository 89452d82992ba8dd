package registry

import (
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// archive is a file in memory.
func archive(path string, content []byte) *Archive {
	digest := sha256.Sum256(content)
	return &Archive{
		Path: path, Digest: "sha256:" + hex.EncodeToString(digest[:]), Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
}

// image is one of 64 KiB for an architecture.
func image(t *testing.T, architecture string) v1.Image {
	t.Helper()
	made, err := random.Image(64<<10, 1)
	require.NoError(t, err)
	config, err := made.ConfigFile()
	require.NoError(t, err)
	config.Architecture, config.OS = architecture, "linux"
	made, err = mutate.ConfigFile(made, config)
	require.NoError(t, err)
	return made
}

// saved is what docker save makes of images by their names.
func saved(t *testing.T, images map[string]v1.Image) []byte {
	t.Helper()
	byReference := map[name.Reference]v1.Image{}
	for text, made := range images {
		reference, err := name.ParseReference(text)
		require.NoError(t, err)
		byReference[reference] = made
	}
	var b bytes.Buffer
	require.NoError(t, tarball.MultiRefWrite(byReference, &b))
	return b.Bytes()
}

// ociLayout is an OCI layout in a tar archive, of one image of a name.
func ociLayout(t *testing.T, reference string) []byte {
	t.Helper()
	dir := t.TempDir()
	path, err := layout.Write(dir, empty.Index)
	require.NoError(t, err)
	require.NoError(t, path.AppendImage(image(t, "amd64"), layout.WithAnnotations(map[string]string{annotationName: reference})))
	return tarred(t, dir)
}

func gzipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// pair is a certificate that signed itself, and its key.
func pair(t *testing.T, change func(*x509.Certificate)) (certificate string, key vnfm.Secret) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "registry.example.com"}, DNSNames: []string{"registry.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		vnfm.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// encryptedKey is a form of a key that no registry can read.
const encryptedKey = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGjMF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBA=\n-----END ENCRYPTED PRIVATE KEY-----\n"

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, content, 0o600))
}
