output "status" {
  description = "Status of the VNF instance."
  value       = vnf_instance.cluster.status
}

output "nodes" {
  description = "The servers: VDU and address."
  value       = { for v in data.vnf_instance.cluster.vnfcs : v.resource_name => "${v.vdu_id} ${v.addresses[0]}" }
}

output "vim" {
  description = "The cluster as a VIM: endpoint and version."
  value       = "${data.vnf_vim.edge.endpoint} ${data.vnf_vim.edge.server_version} ${data.vnf_vim.edge.status}"
}

output "registry" {
  description = "First part of the names of images in the registry."
  value       = vnf_private_registry.registry.server
}
