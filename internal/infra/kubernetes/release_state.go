package kubernetes

import (
	"context"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/digest"
	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
)

// The release of a chart is listed among the objects of its instance, though no
// object is it: its records are. A plan then shows what somebody did with Helm's
// command, and the next apply makes a revision that puts it right.

// releaseKind is what a release is listed as.
const releaseKind = "helm.sh/v1/Release"

// key is the name of the release among the objects.
func (c *chartRelease) key() string { return releaseKind + " " + c.ReleaseName() }

// wanted is the record of the release as it is to be.
func (c *chartRelease) wanted() *helm.Release {
	return c.Release(1, time.Time{}, helm.Deployed, "")
}

// sumUp computes the digest of the release over chart, values and objects. It is
// keyed: values may be secrets.
func (c *chartRelease) sumUp(key []byte) error {
	content, err := c.wanted().Content()
	if err != nil {
		return err
	}
	c.digest = digest.Short(key, content)
	return nil
}

// observeRelease returns the digest of the release when its last revision is deployed
// and is what was applied, else what of it is not; it is empty when there is none.
func (s *session) observeRelease(ctx context.Context) (string, error) {
	h, err := s.history(ctx)
	if err != nil {
		return "", err
	}
	if !h.ours() {
		return "", nil
	}
	differing, err := h.differing(ctx)
	if err != nil {
		return "", err
	}
	if len(differing) > 0 {
		return driftText(differing), nil
	}
	return s.rendering.release.digest, nil
}
