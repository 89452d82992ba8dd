// Package kubernetes is the infra driver for Kubernetes: it makes an API server
// hold the objects of a VNF package, scaled as the VNF instance asks, tells what
// was changed behind its back, and removes them.
//
// All objects are written by server-side apply, in waves and in parallel inside a
// wave. Every object carries the id of its instance as a label and the digest of
// what was applied as an annotation, so that an object that needs nothing costs
// nothing, and it is in the inventory of the instance before it is made, so that
// nothing is lost when the process ends at any instant.
package kubernetes
