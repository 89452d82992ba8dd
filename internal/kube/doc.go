// Package kube is what the drivers for Kubernetes share: a client for one API
// server with its discovery, server-side apply, lists, watch-driven waits and
// the diagnosis of what is not ready. Package readiness decides when an object is.
//
// It works on any kind that the server has, without typed clients: objects are
// unstructured, lists of many objects carry metadata only. It knows the types of
// package vnfm and nothing of VNF instances or of Terraform.
package kube

const (
	// FieldManager owns the fields that the drivers apply.
	FieldManager = "terraform-provider-vnf"
	// ScaleFieldManager owns the replicas once they were handed over to scaling.
	ScaleFieldManager = "terraform-provider-vnf-scale"
	// RestartFieldManager owns the mark in a pod template that makes a workload
	// replace its pods: no apply of the object itself takes the mark away again.
	RestartFieldManager = "terraform-provider-vnf-restart"
)
