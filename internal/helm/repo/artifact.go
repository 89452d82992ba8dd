package repo

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/endpoint"
	"github.com/nfv-iac/terraform-provider-vnf/internal/fetch"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// FetchPackage writes the VNF package that a reference in a registry (oci://<registry>/<path>:<tag>, or @<digest>) leads to: its only
// layer, or the one whose title is that of an archive. The ETag of the answer is the digest of the manifest.
func FetchPackage(ctx context.Context, r fetch.Request, w io.Writer) (*fetch.Answer, error) {
	from := "downloading " + r.What + " from " + r.URL
	repo, reference, err := packageRepository(r)
	if err != nil {
		return nil, err
	}
	described, err := repo.Resolve(ctx, reference)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, registryError(err))
	}
	if r.ETag != "" && r.ETag == described.Digest.String() {
		return &fetch.Answer{Unchanged: true, ETag: r.ETag}, nil
	}
	manifest, err := manifestOf(ctx, repo, described.Digest.String())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, registryError(err))
	}
	layer, err := packageLayer(manifest)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	if layer.Size > r.Limit {
		return nil, fmt.Errorf("%s: it has %d bytes, and at most %d are allowed", from, layer.Size, r.Limit)
	}
	body, err := repo.Blobs().Fetch(ctx, *layer)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, registryError(err))
	}
	defer func() { _ = body.Close() }()
	h := sha256.New()
	verified := content.NewVerifyReader(body, *layer)
	if _, err := io.Copy(io.MultiWriter(w, h), verified); err != nil {
		return nil, fmt.Errorf("%s: the transfer broke: %w", from, err)
	}
	if err := verified.Verify(); err != nil {
		return nil, fmt.Errorf("%s: it is not what the registry has announced: %w", from, err)
	}
	return &fetch.Answer{Checksum: digest.Sum(h), ETag: described.Digest.String()}, nil
}

// packageRepository is the repository of a reference, and its tag or digest.
func packageRepository(r fetch.Request) (*remote.Repository, string, error) {
	repo, err := remote.NewRepository(strings.TrimPrefix(r.URL, OCIScheme))
	if err != nil || repo.Reference.Reference == "" {
		return nil, "", vnfm.Invalid("source", fmt.Sprintf("%q is not the reference of an artifact in a registry", r.URL), "write oci://<registry>/<path>:<tag> or oci://<registry>/<path>@sha256:<digest>")
	}
	if err := logIn(repo, r.Access); err != nil {
		return nil, "", err
	}
	return repo, repo.Reference.Reference, nil
}

// packageLayer is the layer of an artifact that is a package.
func packageLayer(manifest *ocispec.Manifest) (*ocispec.Descriptor, error) {
	if len(manifest.Layers) == 1 {
		return &manifest.Layers[0], nil
	}
	var found *ocispec.Descriptor
	for i := range manifest.Layers {
		layer := &manifest.Layers[i]
		ext := strings.ToLower(path.Ext(layer.Annotations[ocispec.AnnotationTitle]))
		if ext != ".csar" && ext != ".zip" {
			continue
		}
		if found != nil {
			return nil, errors.New("the artifact has several packages: push each with a tag of its own")
		}
		found = layer
	}
	if found == nil {
		return nil, fmt.Errorf("the artifact has %d layers, and none has the title of a package (.csar or .zip)", len(manifest.Layers))
	}
	return found, nil
}

// registryError says what an error of a registry means.
func registryError(err error) error {
	var answer *errcode.ErrorResponse
	switch {
	case errors.Is(err, errdef.ErrNotFound) || errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound:
		return errors.New("the registry has no such artifact: check path, tag and digest, and whether the user may read it")
	case errors.Is(err, auth.ErrBasicCredentialNotFound):
		return errors.New("the registry answered 401 Unauthorized: it asks for username and password")
	case errors.As(err, &answer):
		return fmt.Errorf("the registry answered %d %s: %s", answer.StatusCode, http.StatusText(answer.StatusCode), answer.Errors.Error())
	}
	return endpoint.WithoutURL(err)
}
