package repo_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/fetch"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm/repo"
	"github.com/nfv-iac/terraform-provider-vnf/internal/testsupport/charttest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestPackages fetches the only layer of an artifact, whatever its media type is.
func TestPackages(t *testing.T) {
	t.Parallel()
	s := charttest.Registry(t, published...)
	where := "oci://" + s.Host + "/charts/cilium"
	byDigest := where + "@" + charttest.Manifest(t, version("1.2.0"))
	content := version("1.2.0").Archive(t)
	get := func(url, etag string, limit int64, a *vnfm.ChartAccess) (string, *fetch.Answer, error) {
		var out strings.Builder
		answer, err := repo.FetchPackage(t.Context(), fetch.Request{URL: url, What: "the package", ETag: etag, Limit: limit, Access: a}, &out)
		return out.String(), answer, err
	}
	for _, url := range []string{where + ":1.2.0", byDigest} {
		got, answer, err := get(url, "", 1<<20, access(s))
		require.NoError(t, err, url)
		assert.Equal(t, string(content), got, url)
		assert.Equal(t, &fetch.Answer{Checksum: charttest.Digest(content), ETag: charttest.Manifest(t, version("1.2.0"))}, answer, url)
		got, answer, err = get(url, answer.ETag, 1<<20, access(s))
		require.NoError(t, err, url)
		assert.True(t, answer.Unchanged && got == "", url)
	}
	for name, tt := range map[string]struct {
		url   string
		limit int64
		a     *vnfm.ChartAccess
		want  string
	}{
		"no tag":         {where, 1 << 20, access(s), "write oci://<registry>/<path>:<tag> or oci://<registry>/<path>@sha256:<digest>"},
		"another tag":    {where + ":9.9.9", 1 << 20, access(s), "the registry has no such artifact"},
		"no credentials": {where + ":1.2.0", 1 << 20, &vnfm.ChartAccess{CACertificate: s.CA}, "it asks for username and password"},
		"too large":      {where + ":1.2.0", 10, access(s), "at most 10 are allowed"},
	} {
		_, _, err := get(tt.url, "", tt.limit, tt.a)
		require.ErrorContains(t, err, tt.want, name)
	}
}
