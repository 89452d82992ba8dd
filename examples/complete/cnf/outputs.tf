output "status" {
  description = "Status of the network function."
  value       = vnf_instance.core5g.status
}

output "replicas" {
  description = "Number of VNFCs per VDU; null where an autoscaler decides."
  value       = { for id, vdu in vnf_instance.core5g.vdus : id => vdu.replicas }
}

output "objects" {
  description = "Number of objects that make up the network function."
  value       = length(vnf_instance.core5g.objects)
}
