// Package capi creates and manages workload clusters through Cluster API.
//
// Package forms renders the objects of a cluster, which become the manifests of a package.
// The infra driver of the management cluster applies, compares and prunes them like all other
// objects. This package adds the parts that are particular to Cluster API: readiness, the order
// of removal, the conditions that explain a failure, and the kubeconfig.
// Package cloud adds the OpenStack of the machines.
//
// Objects are read in the version that the management cluster serves, and stay unstructured:
// v1beta1 and v1beta2 have conditions and counters in different fields, and package kube
// reads both. Objects are written as maps as well. The types of Cluster API would change
// the values: they write 90s as 1m30s, and a time with an offset in UTC, so that each plan
// of a cluster with such values would show a change. TestSentBytes checks all written
// objects against these types.
package capi
