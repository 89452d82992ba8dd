// Package attrs has the attributes that several Terraform objects have alike: the VDUs and
// deployment flavours of a VNF, references to workload clusters, connections to OpenStack
// and the credentials sink. Each has its schema, its type and its conversions.
package attrs
