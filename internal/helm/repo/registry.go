package repo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// OCIScheme begins the address of a chart in a registry.
const OCIScheme = "oci://"

// layerChart is the media type of the archive of a chart.
const layerChart = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// fetchOCI fetches a chart from an OCI registry: by the digest of its manifest when the
// user gives that, else by the tag that its version is.
func fetchOCI(ctx context.Context, source *vnfm.ChartSource, want wanted) ([]byte, error) {
	repo, err := repository(source)
	if err != nil {
		return nil, err
	}
	reference := source.Digest
	if reference == "" {
		if reference, err = tagFor(ctx, repo, source, want); err != nil {
			return nil, err
		}
	}
	manifest, err := manifestOf(ctx, repo, reference)
	if err != nil {
		return nil, explained(source, want, err)
	}
	for _, layer := range manifest.Layers {
		if layer.MediaType != layerChart {
			continue
		}
		if layer.Size > maxArchive {
			return nil, fmt.Errorf("the archive of chart %s has %d bytes, and at most %d are allowed", source, layer.Size, maxArchive)
		}
		archive, err := content.FetchAll(ctx, repo.Blobs(), layer)
		if err != nil {
			return nil, explained(source, want, err)
		}
		return archive, nil
	}
	return nil, vnfm.Invalid("oci", fmt.Sprintf("%s is not a Helm chart", source), "the artifact in the registry holds no archive of a chart")
}

// repository is the repository of a registry, with the client that every download has.
func repository(source *vnfm.ChartSource) (*remote.Repository, error) {
	repo, err := remote.NewRepository(strings.TrimPrefix(source.OCI, OCIScheme))
	if err != nil || repo.Reference.Reference != "" {
		return nil, vnfm.Invalid("oci", fmt.Sprintf("%q is not the address of a chart in a registry", source.OCI), "write oci://<registry>/<path>, and select the chart by version or digest")
	}
	return repo, logIn(repo, source.Access)
}

// tagFor is the tag of the version that is wanted. A registry knows no "+", which tags
// have as "_".
func tagFor(ctx context.Context, repo *remote.Repository, source *vnfm.ChartSource, want wanted) (string, error) {
	if want.exact != nil {
		return strings.ReplaceAll(want.text, "+", "_"), nil
	}
	tags, err := registry.Tags(ctx, repo)
	if err != nil {
		return "", explained(source, want, err)
	}
	versions := make([]string, 0, len(tags))
	for _, tag := range tags {
		versions = append(versions, strings.ReplaceAll(tag, "_", "+"))
	}
	at := want.choose(versions)
	if at < 0 {
		return "", want.unmet(source, versions)
	}
	return tags[at], nil
}

// maxManifest bounds the manifest of a chart.
const maxManifest = 4 << 20

func manifestOf(ctx context.Context, repo *remote.Repository, reference string) (*ocispec.Manifest, error) {
	described, body, err := repo.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	if described.Size > maxManifest {
		return nil, fmt.Errorf("its manifest has %d bytes", described.Size)
	}
	text, err := content.ReadAll(io.LimitReader(body, maxManifest), described)
	if err != nil {
		return nil, err
	}
	out := &ocispec.Manifest{}
	return out, json.Unmarshal(text, out)
}

// explained says what an error of a registry means.
func explained(source *vnfm.ChartSource, want wanted, err error) error {
	var answer *errcode.ErrorResponse
	switch {
	case errors.Is(err, errdef.ErrNotFound) || (errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound):
		if source.Digest != "" {
			return vnfm.Invalid("digest", fmt.Sprintf("registry has no chart %s with the digest %s", source, source.Digest), "check address and digest")
		}
		return vnfm.Invalid("oci", fmt.Sprintf("registry has no chart %s of version %q", source, want.text), "check address and version, and whether the user may read it")
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return fmt.Errorf("fetching chart %s: the registry answered 401 Unauthorized: it asks for username and password", source)
	case errors.As(err, &answer):
		return fmt.Errorf("fetching chart %s: the registry answered %d %s: %s", source, answer.StatusCode, http.StatusText(answer.StatusCode), answer.Errors.Error())
	default:
		return fmt.Errorf("fetching chart %s: %w", source, endpoint.WithoutURL(err))
	}
}
