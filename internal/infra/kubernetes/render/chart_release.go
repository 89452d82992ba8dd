package render

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/nfv-iac/terraform-provider-vnf/internal/helm"
)

// The release of a chart is listed among the objects of its instance, though its records
// are Secrets: a plan then shows what Helm's command changed, and the next apply makes a
// revision that repairs it.

// releaseKind is the kind that a release is listed under.
const releaseKind = "helm.sh/v1/Release"

// Key is the identity of the release among the objects.
func (c *ChartRelease) Key() string { return releaseKind + " " + c.ReleaseName() }

// Record is the wanted record of the release.
func (c *ChartRelease) Record() *helm.Release {
	return c.Release(1, time.Time{}, helm.Deployed, "")
}

// setDigest computes the digest of the release over chart, values and objects. It is
// keyed: values may be secrets.
func (c *ChartRelease) setDigest(key []byte) error {
	content, err := c.Record().Content()
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(content)
	c.Digest = "sha256:" + hex.EncodeToString(mac.Sum(nil))[:digestHex]
	return nil
}
