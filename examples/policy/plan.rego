# What a plan does to VNF instances and workload clusters: input is the output of "terraform show -json <plan file>".
package vnf.plan

instances contains change if {
	some change in input.resource_changes
	change.type in {"vnf_instance", "vnf_capi_workload_cluster"}
}

# The indented lines of operations name what is touched and say how: "  amf: 2 rolled, 1 more at a time".
touched contains {"address": change.address, "unit": unit, "effect": effect} if {
	some change in instances
	some line in change.change.after.operations
	startswith(line, "  ")
	[unit, effect] := split(trim_space(line), ": ")
}
