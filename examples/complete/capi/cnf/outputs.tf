output "cluster" {
  description = "URL of the workload API."
  value       = vnf_capi_workload_cluster.core.endpoint
}

output "status" {
  description = "Status of the network function."
  value       = vnf_instance.core5g.status
}

output "replicas" {
  description = "Number of VNFCs per VDU."
  value       = vnf_instance.core5g.vnfc_counts
}
