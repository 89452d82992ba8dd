output "status" {
  description = "Status of the registry."
  value       = vnf_private_registry.registry.status
}

output "server" {
  description = "First part of the names of images in the registry."
  value       = vnf_private_registry.registry.server
}
