// Package cluster is what management drivers share that make a Kubernetes cluster of the
// servers of a VNF instance: which parameters say what it is, which of its nodes come and
// go with an operation, the connections of nodes to registries, the load balancer, and the
// registration of the cluster as a VIM. How a node is installed and removed is the affair
// of an Installer.
//
// The driver compares, at the end of every operation, the nodes that it has noted with
// the servers that there are, and leads the cluster from the one to the other. Whatever
// interrupts it, the next call goes on from what is noted.
package cluster
