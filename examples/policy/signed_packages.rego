# Only packages whose signature was verified.
package vnf.signed_packages

deny contains message if {
	some change in input.resource_changes
	change.type == "vnf_package"
	not "delete" in change.change.actions
	not change.change.after.signature == "require"
	message := sprintf("%s: signature must be \"require\", with the signers in trust", [change.address])
}
