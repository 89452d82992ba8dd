package base

import (
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// fillLimit bounds the computing of digests after an operation: a chart may have to be
// rendered.
const fillLimit = time.Minute

// Objects is the attribute of that name as a preview has it: a digest that could not be
// computed is unknown.
func Objects(p *vnfm.Preview) types.Map {
	out := make(map[string]attr.Value, len(p.Objects))
	for key, digest := range p.Objects {
		if out[key] = types.StringValue(digest); digest == "" {
			out[key] = types.StringUnknown()
		}
	}
	return types.MapValueMust(types.StringType, out)
}

// hasUnknown reports whether a map, or an element of it, is unknown.
func hasUnknown(m types.Map) bool {
	if m.IsUnknown() {
		return true
	}
	for _, v := range m.Elements() {
		if v.IsUnknown() {
			return true
		}
	}
	return false
}

// known are the elements of a map that are known.
func known(m types.Map) types.Map {
	out := m.Elements()
	for key, v := range out {
		if v.IsUnknown() {
			delete(out, key)
		}
	}
	return types.MapValueMust(types.StringType, out)
}
