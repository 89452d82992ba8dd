// Package cluster is the common part of management drivers that make a Kubernetes cluster of the servers of a VNF instance: parameters,
// nodes that an operation adds and removes, connections of nodes to registries, load balancers, and the registration of the cluster as
// a VIM. An Installer installs and removes nodes.
//
// At the end of every operation the driver compares the recorded nodes with the servers of the instance, and adds and removes nodes.
// After an interruption the next call resumes from the record.
package cluster
