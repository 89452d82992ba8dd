# No VDU of a list is interrupted in working hours. The times are in UTC.
package vnf.working_hours

import data.vnf.plan

protected := {"amf", "smf", "upf"}

begin := 7

end := 19

working_hours if {
	[hour, _, _] := time.clock(time.now_ns())
	hour >= begin
	hour < end
	not time.weekday(time.now_ns()) in {"Saturday", "Sunday"}
}

deny contains message if {
	working_hours
	some touched in plan.touched
	touched.unit in protected
	interrupts(touched.effect)
	message := sprintf("%s: %s is %s between %d:00 and %d:00 UTC", [touched.address, touched.unit, touched.effect, begin, end])
}

# What is destroyed or replaced is not in the operations.
deny contains message if {
	working_hours
	some change in plan.instances
	"delete" in change.change.actions
	some unit, number in change.change.before.vnfc_counts
	unit in protected
	number != 0
	message := sprintf("%s is destroyed between %d:00 and %d:00 UTC, and %s with it", [change.address, begin, end, unit])
}

# What is not known before the apply may be anything.
deny contains message if {
	working_hours
	some change in plan.instances
	change.change.after_unknown.operations == true
	message := sprintf("%s: its operations are known only after the apply", [change.address])
}

interrupts(effect) if contains(effect, "interrupted")

interrupts(effect) if contains(effect, "replaced")

interrupts(effect) if contains(effect, "removed")

interrupts(effect) if contains(effect, "stopped")

interrupts(effect) if endswith(effect, "-> 0")
