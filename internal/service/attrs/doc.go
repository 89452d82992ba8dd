// Package attrs has the attributes that several Terraform objects have alike: the VDUs and
// deployment flavours of a VNF, sources of packages, references to workload clusters,
// connections to Kubernetes and OpenStack and the credentials sink, with their types and conversions.
package attrs
