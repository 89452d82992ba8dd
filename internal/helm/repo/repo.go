// Package repo finds Helm charts in repositories and in OCI registries, and fetches
// their archives. Package helm reads the archives.
package repo

import (
	"context"
	"fmt"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

const (
	// maxArchive bounds the archive of a chart, as Helm bounds its files; maxIndex the
	// index of a repository.
	maxArchive = 100 << 20
	maxIndex   = 100 << 20
	// maxNamed is how many charts or versions an error names.
	maxNamed = 10
)

// Fetch returns the archive of the chart that a source means: of its exact version where
// that is known already, else of the newest that the source allows. A wrong
// source is an *vnfm.InvalidError whose attributes are those of the source.
func Fetch(ctx context.Context, source *vnfm.ChartSource) ([]byte, error) {
	wanted, err := wantedVersion(source)
	if err != nil {
		return nil, err
	}
	if source.OCI != "" {
		return fetchOCI(ctx, source, wanted)
	}
	return fetchRepository(ctx, source, wanted)
}

// checkPlain refuses to send a password without TLS unless that was asked for.
func checkPlain(url string, access *vnfm.ChartAccess) error {
	if access == nil || access.Password == "" || access.PlainHTTP || !strings.HasPrefix(strings.ToLower(url), "http://") {
		return nil
	}
	return vnfm.Invalid("repository", "the password would be sent without TLS", "use an https URL, or set plain_http = true where the network is trusted")
}

// named lists some of many names.
func named(all []string) string {
	if len(all) <= maxNamed {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:maxNamed], ", "), len(all)-maxNamed)
}
