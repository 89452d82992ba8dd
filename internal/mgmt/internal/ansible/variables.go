package ansible

import (
	"maps"
	"slices"

	"github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"
	"github.com/nfv-iac/terraform-provider-vnf/internal/mgmt/internal/params"
)

// variableName matches the names that Ansible accepts for variables.
var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// IsVariable reports whether a text is a valid name of an Ansible variable.
func IsVariable(name string) bool { return variableName.MatchString(name) }

// ReadVariables reads a parameter whose attributes are variables of a playbook.
func ReadVariables(o *params.Object, name string) map[string]any {
	variables, isObject := o.Raw(name).(map[string]any)
	if !isObject && o.Has(name) {
		o.Errorf(name, "", "must be an object of Ansible variables")
	}
	for _, each := range slices.Sorted(maps.Keys(variables)) {
		if !IsVariable(each) {
			o.Errorf(name+"."+each, "a name has letters, digits and underscores, and does not begin with a digit", "is not a valid name of an Ansible variable")
		}
	}
	return variables
}
