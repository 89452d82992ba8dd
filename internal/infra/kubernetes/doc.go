// Package kubernetes is the infra driver for Kubernetes. It applies the objects of a VNF package, scales them as the VNF instance
// specifies, reports drift, and deletes the objects.
//
// All objects are written by server-side apply, in waves and concurrently inside a wave. Workloads are written after the
// configuration that they need. A request waits only for requests that it depends on.
// Every object carries the id of its instance as a label and the digest of the applied content as an annotation, so that an object
// that needs no change costs no request. The inventory of the instance contains an object before it is created, so that no object is
// lost when the process ends.
package kubernetes
