output "status" {
  description = "Status of the network function."
  value       = vnf_instance.core5g.status
}

output "replicas" {
  description = "Number of VNFCs per VDU; null where an autoscaler decides."
  value       = vnf_instance.core5g.vnfc_counts
}

