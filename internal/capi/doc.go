// Package capi makes workload clusters through Cluster API.
//
// Package forms renders the objects of a cluster, which become the manifests of a package.
// The infra driver of the management cluster does what is the same for all objects: apply,
// compare, prune. This package adds what is particular to Cluster API: when a cluster is
// ready, the order of its removal, the conditions that explain a failure, and its kubeconfig.
// Package cloud adds what concerns the OpenStack of its machines.
//
// Objects are read in the version that the management cluster serves, and stay unstructured:
// v1beta1 and v1beta2 have conditions and counters in different fields, of which package
// kube reads both. Objects are written as maps as well. The types of Cluster API cannot
// write what is sent: they make 1m30s of 90s, and UTC of a time with an offset, so that
// clusters with such values would be planned to change. TestSentBytes checks all that is
// written against these types.
package capi
