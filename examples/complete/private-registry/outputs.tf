output "status" {
  description = "Whether the registry answers and is as it should be."
  value       = vnf_private_registry.registry.status
}

output "server" {
  description = "How names of images begin that are in the registry."
  value       = vnf_private_registry.registry.server
}
