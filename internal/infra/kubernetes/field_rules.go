package kubernetes

import (
	"regexp"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fieldRules are what a plan says of changes of some fields.
var fieldRules = vnfm.FieldRules{
	// The object is the same in all versions of its API.
	{Lines: lazyregexp.New(`^apiVersion: `), Words: "version changed: "},
	// The annotation by which pods follow their configuration, whether it changes, comes or goes.
	{Lines: lazyregexp.New(`^(.*?)\.metadata\.annotations\..*` + regexp.QuoteMeta(vnfm.LabelPrefix) + `.*$`), Words: "$1: reads other configuration"},
	// The schema of a version of a custom resource is long, and mostly documentation.
	{Lines: lazyregexp.New(`^spec\.versions\[.*?\]\.schema`), Counted: true},
	// Objects of a chart have its version in their labels.
	{Lines: lazyregexp.New(`metadata\.(labels|annotations)\.`), Common: true},
}
