package forms

import (
	"fmt"

	"github.com/nfv-iac/terraform-provider-vnf/internal/vnfm"
)

// unusedArguments reports given arguments that a form does not support. Ignoring them silently
// would mislead users.
type unusedArguments struct {
	ps *vnfm.Problems
	// form is the chosen form, detail the advice.
	form, detail string
}

// cluster reports arguments of the cluster itself, or of one of its parts.
func (u unusedArguments) cluster(part string, given map[string]bool) {
	for _, name := range SortedKeys(given) {
		if !given[name] {
			continue
		}
		attribute := name
		if part != "" {
			attribute = part + "." + name
		}
		*u.ps = append(*u.ps, vnfm.Problem{Attribute: attribute, Summary: fmt.Sprintf("%s does not support %s", u.form, attribute), Detail: u.detail})
	}
}

// group reports arguments of a node group.
func (u unusedArguments) group(group string, given map[string]bool) {
	for _, name := range SortedKeys(given) {
		if given[name] {
			*u.ps = append(*u.ps, vnfm.Problem{
				Attribute: vnfm.AttributeNodeGroups, Key: group, Field: name,
				Summary: fmt.Sprintf("%s does not support %s of node group %q", u.form, name, group), Detail: u.detail,
			})
		}
	}
}

// cloudNetworks are the arguments that name networks of a cloud.
func cloudNetworks(n *vnfm.ClusterNetwork) map[string]bool {
	if n == nil {
		return nil
	}
	return map[string]bool{"internal": n.Internal != nil, "internal_subnet": n.Subnet != nil, "external": n.External != nil}
}
