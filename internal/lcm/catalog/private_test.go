package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/csar"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/seal"
	"github.com/nfv-iac/terraform-provider-vnf/internal/store/sqlite"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/tlstest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// newCatalog is a catalogue over a new local store.
func newCatalog(t *testing.T) (*Catalog, *seal.Store) {
	t.Helper()
	dir := t.TempDir()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "store.db"), "test")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	keys, err := seal.New(seal.Source{KeyFile: filepath.Join(dir, "key.txt")})
	require.NoError(t, err)
	s := seal.NewStore(db, keys)
	return New(Config{
		Store:          func(context.Context) (*seal.Store, error) { return s, nil },
		WithReferences: func(ctx context.Context, _ store.Store, do func(context.Context) error) error { return do(ctx) },
		PackageInUse:   func(context.Context, store.Store, string) (bool, error) { return false, nil },
		PackageUse:     func(string) []store.Wanted { return nil },
		Concurrency:    2,
	}), s
}

const vnfdOfWeb = `tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    vnf:
      type: tosca.nodes.nfv.VNF
      properties: { descriptor_id: web, descriptor_version: '1', provider: p, product_name: n, software_version: '1', flavour_id: simple }
    web:
      type: tosca.nodes.nfv.Vdu.Compute
      properties: { name: web, vdu_profile: { min_number_of_instances: 1, max_number_of_instances: 1 } }
`

const (
	metaOfWeb     = "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.1\nCreated-By: a\nEntry-Definitions: v.yaml\nETSI-Entry-Manifest: v.mf\n"
	metadataOfWeb = "metadata:\n  vnf_provider_id: p\n  vnf_product_name: n\n  vnf_release_date_time: a\n  vnf_package_version: a\n"
	webManifest   = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\n"
)

// packed is a package with further sources in its manifest.
func packed(t *testing.T, sources string) []byte {
	t.Helper()
	all := map[string][]byte{"TOSCA-Metadata/TOSCA.meta": []byte(metaOfWeb), "v.yaml": []byte(vnfdOfWeb)}
	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, _ = fmt.Fprintf(&list, "Source: %s\nAlgorithm: SHA-256\nHash: %s\n", name, strings.TrimPrefix(store.Digest(all[name]), "sha256:"))
	}
	all["v.mf"] = []byte(metadataOfWeb + list.String() + sources)
	var out bytes.Buffer
	require.NoError(t, csar.WriteZip(csar.FromFiles(all), &out))
	return out.Bytes()
}

// TestPrivateSource onboards a package from a server that lets nobody in without credentials. They are kept sealed, and a later change of
// them too.
func TestPrivateSource(t *testing.T) {
	t.Parallel()
	archive := packed(t, "")
	var want http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name := range want {
			if r.Header.Get(name) != want.Get(name) {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
		}
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(archive)
	}))
	t.Cleanup(server.Close)
	c, s := newCatalog(t)
	spec := vnfm.PackageSpec{Name: "web", Source: server.URL + "/web.csar", Share: "a"}
	for _, tt := range []struct {
		want   http.Header
		access vnfm.ChartAccess
	}{
		{http.Header{"Private-Token": {"planted-1"}}, vnfm.ChartAccess{Headers: map[string]vnfm.Secret{"PRIVATE-TOKEN": "planted-1"}}},
		{http.Header{"Authorization": {"Bearer planted-2"}}, vnfm.ChartAccess{Token: "planted-2"}},
		{http.Header{"Authorization": {"Basic dTpwbGFudGVkLTM="}}, vnfm.ChartAccess{Username: "u", Password: "planted-3"}},
	} {
		want = tt.want
		spec.Access = &vnfm.ChartAccess{Headers: map[string]vnfm.Secret{"X-Other": "planted-0"}}
		_, _, err := c.OnboardPackage(t.Context(), spec, "")
		require.ErrorContains(t, err, "the server answered 401")
		require.NotContains(t, err.Error(), "planted")
		spec.Access = &tt.access
		p, problems, err := c.OnboardPackage(t.Context(), spec, "")
		require.NoError(t, err)
		require.Empty(t, problems)
		en, err := getPackage(t.Context(), s, p.ID)
		require.NoError(t, err)
		require.NotContains(t, string(en.Rec.Data), "planted")
		require.NoError(t, openWorkloads(t.Context(), s, en))
		require.Equal(t, &tt.access, en.Value.access)
		// Large files are read at the source with it.
		p, err = c.Package(t.Context(), p.ID)
		require.NoError(t, err)
		files, ok := p.Content.(*content)
		require.True(t, ok)
		require.Equal(t, &tt.access, files.access)
	}
	spec.Source, spec.Access = "http://packages.example/web.csar", &vnfm.ChartAccess{Token: "planted"}
	_, _, err := c.ReadPackage(t.Context(), spec)
	require.ErrorContains(t, err, "the credentials would be sent without TLS")
}

// TestExternalArtifacts onboards a package that names a manifest by URL: it is fetched where that is allowed, verified, kept, and found
// in the store afterwards.
func TestExternalArtifacts(t *testing.T) {
	t.Parallel()
	served, requests := webManifest, 0
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_, _ = io.WriteString(w, served)
	})
	local := httptest.NewTLSServer(handler)
	t.Cleanup(local.Close)
	sum := sha256.Sum256([]byte(webManifest))
	source := func(url string) string {
		return "Source: " + url + "/web.yaml\nAlgorithm: SHA-256\nHash: " + hex.EncodeToString(sum[:]) + "\n"
	}
	read := func(c *Catalog, sources, ca string, allowed bool) (*vnfm.Package, vnfm.Problems, error) {
		file := filepath.Join(t.TempDir(), "web.csar")
		require.NoError(t, os.WriteFile(file, packed(t, sources), 0o600))
		return c.OnboardPackage(t.Context(), vnfm.PackageSpec{
			Name: "web", Source: file, ExternalArtifacts: allowed, Share: "a", Access: &vnfm.ChartAccess{CACertificate: ca},
		}, "")
	}
	c, s := newCatalog(t)
	_, _, err := read(c, source(local.URL), "", true)
	require.ErrorContains(t, err, "it leads to this machine (127.0.0.1)")
	require.Zero(t, requests)
	_, problems, err := read(c, "Source: https://packages.example/a.yaml\n", "", true)
	require.NoError(t, err)
	require.Equal(t, "v.mf: the external artifact https://packages.example/a.yaml is not fetched: nothing says what it must be; add Algorithm and Hash to its Source",
		problems[len(problems)-1].String())

	url, ca := tlstest.Reachable(t, handler)
	p, _, err := read(c, source(url), ca, false)
	require.NoError(t, err)
	require.Empty(t, p.KubernetesFiles)
	require.Zero(t, requests)
	served += "#"
	_, _, err = read(c, source(url), ca, true)
	require.ErrorContains(t, err, "is not the one that the package declares: its SHA-256 is ")
	served = webManifest
	requests = 0
	for range 2 {
		// The second time the store has it.
		p, _, err = read(c, source(url), ca, true)
		require.NoError(t, err)
		require.Equal(t, []string{url + "/web.yaml"}, p.KubernetesFiles)
		text, err := fs.ReadFile(p.Content, url+"/web.yaml")
		require.NoError(t, err)
		require.Equal(t, webManifest, string(text))
		entries, err := fs.ReadDir(p.Content, ".")
		require.NoError(t, err)
		for _, e := range entries {
			require.NotContains(t, e.Name(), ":")
		}
		require.Equal(t, 1, requests)
	}
	// What is no longer allowed goes from the store.
	kept, err := getPackage(t.Context(), s, p.ID)
	require.NoError(t, err)
	before := kept.Value.contents()
	_, _, err = read(c, source(url), ca, false)
	require.NoError(t, err)
	lost, err := lostContents(t.Context(), s, before)
	require.NoError(t, err)
	require.True(t, lost)
}
