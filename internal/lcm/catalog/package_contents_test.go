package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// TestContentsOfAPackage has no file twice: what is in the bundle is no content of its own, and is not asked for when the package goes.
func TestContentsOfAPackage(t *testing.T) {
	t.Parallel()
	var r packageRecord
	r.Files = []vnfm.PackageFile{{Digest: "small", Size: 100}, {Digest: "image", Size: maxBundled + 1}}
	for range maxBundle / maxBundled {
		r.Files = append(r.Files, vnfm.PackageFile{Digest: "full", Size: maxBundled})
	}
	require.Equal(t, []string{"small", "image", "full"}, r.contents()[:3], "a package without a bundle")
	r.Bundle = "bundle"
	require.Equal(t, []string{"bundle", "image", "full"}, r.contents(), "the last one exceeds the bundle")
}
