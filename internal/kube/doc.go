// Package kube is the client that the drivers for Kubernetes share. It connects to one API server,
// with discovery, server-side apply, lists, watch-driven waits and the diagnosis of objects that
// are not ready. Package readiness decides when an object is.
//
// It handles any kind that the server serves, without typed clients: objects are unstructured,
// lists of many objects carry metadata only. It uses the types of package vnfm and depends neither
// on VNF instances nor on Terraform.
package kube

const (
	// FieldManager owns the fields that the drivers apply.
	FieldManager = "terraform-provider-vnf"
	// ScaleFieldManager owns the replicas after their handover to scaling.
	ScaleFieldManager = "terraform-provider-vnf-scale"
	// RestartFieldManager owns the mark in a pod template that makes a workload replace its pods.
	// An apply of the object itself therefore keeps the mark.
	RestartFieldManager = "terraform-provider-vnf-restart"
)
