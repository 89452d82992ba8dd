package forms

import "github.com/nfv-iac/terraform-provider-vnf/internal/lazyregexp"

// uuid is the form of most ids of OpenStack.
var uuid = lazyregexp.New(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)

// findFlavors moves the id of a flavor that a chart has written as its name into the field for ids: version v1beta1 of Cluster API
// Provider OpenStack has two fields, and does not find a flavor by an id in the field for names.
func (f chart) findFlavors(objects []map[string]any) {
	if f.isEmbedded() {
		return
	}
	for _, o := range objects {
		if o["kind"] != "OpenStackMachineTemplate" || o["apiVersion"] != GroupInfrastructure+"/v1beta1" {
			continue
		}
		machine := Child(Child(Child(o, "spec"), "template"), "spec")
		if id := StringAt(machine, "flavor"); uuid.MatchString(id) && machine["flavorID"] == nil {
			machine["flavorID"] = id
			delete(machine, "flavor")
		}
	}
}
