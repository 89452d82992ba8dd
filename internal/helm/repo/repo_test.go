package repo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm/repo"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/charttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

func version(v string) charttest.Chart {
	return charttest.Chart{Name: "cilium", Version: v, Templates: map[string]string{"a.yaml": "# " + v}}
}

var published = []charttest.Chart{version("1.0.0"), version("1.2.0"), version("1.10.1+build.5"), version("2.0.0-rc.1"), {Name: "calico", Version: "3.0.0"}}

func access(s *charttest.Server) *vnfm.ChartAccess {
	return &vnfm.ChartAccess{Username: charttest.Username, Password: charttest.Password, CACertificate: s.CA}
}

// sources are the same charts behind a repository and behind a registry.
func sources(t *testing.T) map[string]vnfm.ChartSource {
	t.Helper()
	repository, registry := charttest.Repository(t, published...), charttest.Registry(t, published...)
	return map[string]vnfm.ChartSource{
		"repository": {Repository: repository.URL, Name: "cilium", Access: access(repository)},
		"registry":   {OCI: "oci://" + registry.Host + "/charts/cilium", Access: access(registry)},
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	for where, source := range sources(t) {
		for wanted, want := range map[string]string{
			"": "1.10.1+build.5", "1.2.0": "1.2.0", "~1.2": "1.2.0", ">=1.0.0, <1.2": "1.0.0", "^1": "1.10.1+build.5",
			"1.10.1+build.5": "1.10.1+build.5", "2.0.0-rc.1": "2.0.0-rc.1", ">=2.0.0-0": "2.0.0-rc.1",
		} {
			source.Version = wanted
			archive, err := repo.Fetch(t.Context(), &source)
			require.NoError(t, err, "%s: %q", where, wanted)
			assert.Equal(t, charttest.Digest(version(want).Archive(t)), charttest.Digest(archive), "%s: %q", where, wanted)
		}
	}
}

// A source that was found before is fetched in the version that it was found in.
func TestExactVersionAgain(t *testing.T) {
	t.Parallel()
	for where, source := range sources(t) {
		source.Version, source.Chart = "^1", &vnfm.Chart{Version: "1.0.0"}
		archive, err := repo.Fetch(t.Context(), &source)
		require.NoError(t, err, where)
		assert.Equal(t, charttest.Digest(version("1.0.0").Archive(t)), charttest.Digest(archive), where)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	type change func(s *vnfm.ChartSource)
	both := map[string]struct {
		change            change
		attribute, detail string
	}{
		"no version":     {func(s *vnfm.ChartSource) { s.Version = "new" }, "version", `"new" is neither a version nor a range of versions`},
		"no such range":  {func(s *vnfm.ChartSource) { s.Version = ">=3" }, "version", `has no version ">=3": its versions, the newest first, are 2.0.0-rc.1, 1.10.1+build.5, 1.2.0, 1.0.0`},
		"another CA":     {func(s *vnfm.ChartSource) { s.Access.CACertificate = "" }, "", "certificate"},
		"wrong password": {func(s *vnfm.ChartSource) { s.Access.Password = "wrong" }, "", "401 Unauthorized"},
		"no password":    {func(s *vnfm.ChartSource) { s.Access.Password = "" }, "", "401 Unauthorized"},
		"no certificate": {func(s *vnfm.ChartSource) { s.Access.CACertificate = "no certificate" }, "", "holds no certificate"},
	}
	digests := map[string]string{"repository": "does not have the expected digest", "registry": "has no chart"}
	for where, source := range sources(t) {
		check := func(name string, change change, attribute, detail string) {
			changed := source
			changed.Access = new(vnfm.ChartAccess)
			*changed.Access = *source.Access
			change(&changed)
			_, err := repo.Fetch(t.Context(), &changed)
			require.ErrorContains(t, err, detail, "%s: %s", where, name)
			assert.NotContains(t, err.Error(), charttest.Password)
			var invalid *vnfm.InvalidError
			if attribute == "" {
				assert.NotErrorAs(t, err, &invalid, "%s: %s", where, name)
				return
			}
			require.ErrorAs(t, err, &invalid, "%s: %s", where, name)
			assert.Equal(t, attribute, invalid.Problems[0].Attribute, "%s: %s", where, name)
		}
		for name, test := range both {
			check(name, test.change, test.attribute, test.detail)
		}
		check("another digest", func(s *vnfm.ChartSource) {
			s.Version, s.Digest = "1.2.0", "sha256:"+strings.Repeat("0", 64)
		}, "digest", digests[where])
	}
}

// The certificate is left unverified where somebody asks for that.
func TestInsecure(t *testing.T) {
	t.Parallel()
	for where, source := range sources(t) {
		source.Access.CACertificate, source.Access.InsecureSkipTLSVerify = "", true
		_, err := repo.Fetch(t.Context(), &source)
		assert.NoError(t, err, where)
	}
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	s := charttest.Repository(t, published...)
	source := vnfm.ChartSource{Repository: s.URL, Name: "flannel", Access: access(s)}
	_, err := repo.Fetch(t.Context(), &source)
	require.ErrorContains(t, err, `has no chart "flannel": its charts are calico, cilium`)

	source.Name, source.Version = "cilium", "1.2.0"
	source.Digest = charttest.Digest(version("1.2.0").Archive(t))
	_, err = repo.Fetch(t.Context(), &source)
	require.NoError(t, err)
	source.Digest = ""
	s.Replace("/charts/cilium-1.2.0.tgz", version("6.6.6").Archive(t))
	_, err = repo.Fetch(t.Context(), &source)
	require.ErrorContains(t, err, "it is not the one that was published")

	s.Replace("/index.yaml", []byte("a: page"))
	_, err = repo.Fetch(t.Context(), &source)
	require.ErrorContains(t, err, "is not a Helm repository")

	source.Repository = strings.Replace(s.URL, "https:", "http:", 1)
	_, err = repo.Fetch(t.Context(), &source)
	require.ErrorContains(t, err, "the password would be sent without TLS")
}

// An archive on another server than the index is fetched from there without the access: no password is sent, and the CA of
// the index is not trusted; and not without TLS.
func TestAccessStaysOnItsServer(t *testing.T) {
	t.Parallel()
	index, elsewhere := charttest.Repository(t), charttest.Repository(t, version("1.0.0"))
	index.Replace("/index.yaml", []byte("entries:\n  cilium:\n  - {version: 1.0.0, urls: [\""+elsewhere.URL+"/charts/cilium-1.0.0.tgz\"]}\n"))
	source := vnfm.ChartSource{Repository: index.URL, Name: "cilium", Access: access(index)}
	elsewhere.Open.Store(true)
	_, err := repo.Fetch(t.Context(), &source)
	require.ErrorContains(t, err, "certificate signed by unknown authority")
	index.Replace("/index.yaml", []byte("entries:\n  cilium:\n  - {version: 1.0.0, urls: [\"http://127.0.0.1:1/cilium.tgz?token=planted\"]}\n"))
	_, err = repo.Fetch(t.Context(), &source)
	require.EqualError(t, err, "version 1.0.0 of chart "+source.String()+" is at http://127.0.0.1:1/cilium.tgz?..., without TLS, although its repository uses https: it is not fetched")
}

func TestRegistries(t *testing.T) {
	t.Parallel()
	s := charttest.Registry(t, published...)
	source := vnfm.ChartSource{OCI: "oci://" + s.Host + "/charts/cilium", Access: access(s)}
	source.Digest = charttest.Manifest(t, version("1.2.0"))
	archive, err := repo.Fetch(t.Context(), &source)
	require.NoError(t, err)
	assert.Equal(t, charttest.Digest(version("1.2.0").Archive(t)), charttest.Digest(archive))

	source.Digest, source.Version = "", "9.9.9"
	_, err = repo.Fetch(t.Context(), &source)
	require.ErrorContains(t, err, `has no chart oci://`+s.Host+`/charts/cilium of version "9.9.9"`)
	source.OCI, source.Version = "oci://"+s.Host+"/charts/flannel", ""
	_, err = repo.Fetch(t.Context(), &source)
	require.ErrorContains(t, err, "registry has no chart")
	source.OCI = "oci://" + s.Host + "/charts/cilium:1.2.0"
	_, err = repo.Fetch(t.Context(), &source)
	require.ErrorContains(t, err, "write oci://<registry>/<path>, and select the chart by version or digest")
}
