package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"io"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/require"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// archive is a file in memory.
func archive(path string, content []byte) *Archive {
	return &Archive{
		Path: path, Digest: digest.FromBytes(content).String(), Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}
}

// image is the content of an image.
type image struct{ config, layer []byte }

// newImage makes an image of 64 KiB for an architecture.
func newImage(t *testing.T, architecture string) image {
	t.Helper()
	layer := make([]byte, 64<<10)
	_, err := rand.Read(layer)
	require.NoError(t, err)
	config, err := json.Marshal(ocispec.Image{
		Platform: ocispec.Platform{Architecture: architecture, OS: "linux"},
		RootFS:   ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(layer)}},
	})
	require.NoError(t, err)
	return image{config, layer}
}

// saved is the output of docker save for images by their names.
func saved(t *testing.T, images map[string]image) []byte {
	t.Helper()
	type entry struct {
		Config   string   `json:"Config"`
		RepoTags []string `json:"RepoTags"`
		Layers   []string `json:"Layers"`
	}
	var (
		b        bytes.Buffer
		manifest []entry
	)
	packed := tar.NewWriter(&b)
	write := func(name string, content []byte) {
		require.NoError(t, packed.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
		_, err := packed.Write(content)
		require.NoError(t, err)
	}
	for _, name := range slices.Sorted(maps.Keys(images)) {
		made := images[name]
		e := entry{digest.FromBytes(made.config).String(), []string{name}, []string{digest.FromBytes(made.layer).Encoded() + ".tar"}}
		write(e.Config, made.config)
		write(e.Layers[0], made.layer)
		manifest = append(manifest, e)
	}
	text, err := json.Marshal(manifest)
	require.NoError(t, err)
	write("manifest.json", text)
	require.NoError(t, packed.Close())
	return b.Bytes()
}

// ociLayout is a tar archive of an OCI layout with one image of a name.
func ociLayout(t *testing.T, reference string) []byte {
	t.Helper()
	dir := t.TempDir()
	layout, err := oci.New(dir)
	require.NoError(t, err)
	made := newImage(t, "amd64")
	config, err := oras.PushBytes(t.Context(), layout, ocispec.MediaTypeImageConfig, made.config)
	require.NoError(t, err)
	layer, err := oras.PushBytes(t.Context(), layout, ocispec.MediaTypeImageLayer, made.layer)
	require.NoError(t, err)
	packed, err := oras.PackManifest(t.Context(), layout, oras.PackManifestVersion1_1, "", oras.PackManifestOptions{
		ConfigDescriptor: &config, Layers: []ocispec.Descriptor{layer},
	})
	require.NoError(t, err)
	packed.Annotations = map[string]string{annotationName: reference}
	require.NoError(t, layout.Tag(t.Context(), packed, "3"))
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
