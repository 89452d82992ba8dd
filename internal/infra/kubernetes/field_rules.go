package kubernetes

import (
	"regexp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fieldRules define how a plan describes changes of certain fields.
var fieldRules = vnfm.FieldRules{
	// The object is the same in all versions of its API.
	{Lines: lazyregexp.New(`^apiVersion: `), Words: "version changed: "},
	// The annotation that makes pods follow their configuration, whether it is changed, added or removed.
	{Lines: lazyregexp.New(`^(.*?)\.metadata\.annotations\..*` + regexp.QuoteMeta(vnfm.LabelPrefix) + `.*$`), Words: "$1: reads other configuration"},
	// The schema of a version of a custom resource is long, and mostly documentation.
	{Lines: lazyregexp.New(`^spec\.versions\[.*?\]\.schema`), Counted: true},
	// The labels of a chart's objects contain its version.
	{Lines: lazyregexp.New(`metadata\.(labels|annotations)\.`), Common: true},
}
