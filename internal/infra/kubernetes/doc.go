// Package kubernetes is the infra driver for Kubernetes: it makes an API server hold the
// objects of a VNF package, scaled as the VNF instance asks, reports drift, and removes the
// objects again.
//
// All objects are written by server-side apply, in waves and in parallel inside a wave;
// workloads begin once the configuration is written that they need. A request that does not
// depend on another one does not wait for it.
// Every object carries the id of its instance as a label and the digest of what was applied
// as an annotation: an object that needs no change costs no request. It is in the inventory
// of the instance before it is created, so that nothing is lost when the process ends.
package kubernetes
