package csar

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// Contradictions warns of metadata of the manifest that the VNFD gives another value: an NFVO goes by the manifest, an instance by the VNFD.
func (p *Package) Contradictions(d *vnfm.Descriptor) vnfm.Problems {
	if p.Manifest == nil || d == nil {
		return nil
	}
	var ps vnfm.Problems
	for _, pair := range []struct{ key, property, value string }{
		{metadataVNFDID, "descriptor_id", d.ID},
		{metadataProvider, "provider", d.Provider},
		{metadataProduct, "product_name", d.ProductName},
		{metadataSoftwareVersion, "software_version", d.SoftwareVersion},
	} {
		given := p.Manifest.Metadata[pair.key]
		if text, err := strconv.Unquote(`"` + given + `"`); err == nil {
			given = text
		}
		if given == "" || pair.value == "" || strings.EqualFold(given, pair.value) {
			continue
		}
		ps = append(ps, vnfm.Problem{
			Severity: vnfm.SeverityWarning, File: p.ManifestFile, Line: p.Manifest.lines[pair.key], Rule: ruleManifest,
			Summary: fmt.Sprintf("%s is %q, but %s of the VNFD (%s) is %q", pair.key, given, pair.property, p.Entry, pair.value),
			Detail:  "write the same value into both files; the VNFD counts",
		})
	}
	return ps
}
