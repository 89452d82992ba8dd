// Package charttest serves Helm charts to tests, as a repository and as an OCI registry,
// over TLS and to those alone who know the password.
package charttest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stretchr/testify/require"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/errdef"

	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/registrytest"
)

// Username and Password let one in.
const (
	Username = "installer"
	Password = "pa55word-of-the-charts"
)

// Chart is one version of a chart, with its templates by name.
type Chart struct {
	Name, Version string
	Templates     map[string]string
	// Packed, when set, is the archive.
	Packed []byte
}

// Archive packs the chart, always alike.
func (c Chart) Archive(t testing.TB) []byte {
	t.Helper()
	if c.Packed != nil {
		return c.Packed
	}
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	packed := tar.NewWriter(zipped)
	write := func(name, text string) {
		require.NoError(t, packed.WriteHeader(&tar.Header{Name: path.Join(c.Name, name), Mode: 0o644, Size: int64(len(text))}))
		_, err := packed.Write([]byte(text))
		require.NoError(t, err)
	}
	write("Chart.yaml", fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\nappVersion: app-%s\n", c.Name, c.Version, c.Version))
	for _, name := range slices.Sorted(maps.Keys(c.Templates)) {
		write("templates/"+name, c.Templates[name])
	}
	require.NoError(t, packed.Close())
	require.NoError(t, zipped.Close())
	return out.Bytes()
}

// Digest is that of a content.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Server serves charts.
type Server struct {
	// URL begins with https, CA is the certificate to trust.
	URL, CA string
	// Host is the address without a scheme.
	Host string
	// Requests counts what was asked for with the password.
	Requests atomic.Int64
	// Open is set to let everybody in.
	Open atomic.Bool

	files map[string][]byte
}

func serve(t testing.TB, s *Server, handler http.Handler) *Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		if !s.Open.Load() && (user != Username || password != Password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="charts"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"who are you"}]}`, http.StatusUnauthorized)
			return
		}
		s.Requests.Add(1)
		handler.ServeHTTP(w, r)
	}))
	// Clients that do not trust the certificate are tested, and not worth a line.
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	s.URL, s.Host = server.URL, strings.TrimPrefix(server.URL, "https://")
	s.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return s
}

// Repository serves charts as a Helm repository, whose index names each by a relative URL.
func Repository(t testing.TB, charts ...Chart) *Server {
	t.Helper()
	s := &Server{files: map[string][]byte{}}
	entries := map[string]string{}
	for _, c := range charts {
		archive := c.Archive(t)
		file := fmt.Sprintf("charts/%s-%s.tgz", c.Name, c.Version)
		s.files["/"+file] = archive
		entries[c.Name] += fmt.Sprintf("  - {name: %s, version: %s, urls: [%q], digest: %s}\n", c.Name, c.Version, file, strings.TrimPrefix(Digest(archive), "sha256:"))
	}
	index := "apiVersion: v1\nentries:\n"
	for name, releases := range entries {
		index += "  " + name + ":\n" + releases
	}
	s.files["/index.yaml"] = []byte(index)
	return serve(t, s, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := s.files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content)
	}))
}

// Replace replaces the content of a file of a repository. It is not for
// while the file is being asked for.
func (s *Server) Replace(file string, content []byte) { s.files[file] = content }

// Registry serves charts as an OCI registry, as oci://<host>/charts/<name>.
func Registry(t testing.TB, charts ...Chart) *Server {
	t.Helper()
	repositories := map[string]*oci.Store{}
	for _, c := range charts {
		name := "charts/" + c.Name
		if repositories[name] == nil {
			layout, err := oci.New(t.TempDir())
			require.NoError(t, err)
			repositories[name] = layout
		}
		push(t, repositories[name], c)
	}
	return serve(t, &Server{}, registrytest.Registry(repositories))
}

// Manifest is the digest of what Registry has as the manifest of a chart.
func Manifest(t testing.TB, c Chart) string {
	t.Helper()
	return string(digest.FromBytes(manifest(t, c)))
}

const (
	mediaConfig = "application/vnd.cncf.helm.config.v1+json"
	mediaChart  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

func manifest(t testing.TB, c Chart) []byte {
	t.Helper()
	text, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: content.NewDescriptorFromBytes(mediaConfig, []byte("{}")), Layers: []ocispec.Descriptor{content.NewDescriptorFromBytes(mediaChart, c.Archive(t))},
	})
	require.NoError(t, err)
	return text
}

// push writes a chart to the layout of its repository.
func push(t testing.TB, layout *oci.Store, c Chart) {
	t.Helper()
	for kind, blob := range map[string][]byte{mediaConfig: []byte("{}"), mediaChart: c.Archive(t)} {
		// Versions share their configuration.
		_, err := oras.PushBytes(t.Context(), layout, kind, blob)
		if !errors.Is(err, errdef.ErrAlreadyExists) {
			require.NoError(t, err)
		}
	}
	_, err := oras.TagBytes(t.Context(), layout, ocispec.MediaTypeImageManifest, manifest(t, c), strings.ReplaceAll(c.Version, "+", "_"))
	require.NoError(t, err)
}
