output "id" {
  description = "Id of the instance."
  value       = vnf_instance.this.id
}

# It is made of the instance, so that what refers to it waits for the instance.
output "domain" {
  description = "Domain of the Services of the network function in its cluster."
  value       = "${vnf_instance.this.namespace}.svc.cluster.local"
}

output "vdus" {
  description = "Number of VNFCs for each VDU; null where an autoscaler decides."
  value       = vnf_instance.this.vnfc_counts
}
