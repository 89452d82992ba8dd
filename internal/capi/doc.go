// Package capi makes workload clusters through Cluster API.
//
// It renders a cluster from one of three forms, a topology of a ClusterClass, a Helm
// chart or a cluster template, to the manifests of a package, and leaves to the infra
// driver of the management cluster what is the same for all objects: applying,
// comparing, pruning. It adds what only Cluster API knows: when a cluster is as it
// shall be, in which order it is removed, what keeps it from getting there, and where
// its kubeconfig is.
//
// Objects are read in whatever version the management cluster serves: conditions and
// counters lie in different fields in v1beta1 and v1beta2, and package kube reads both.
package capi
