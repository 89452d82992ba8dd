output "status" {
  description = "Status of the VNF instance."
  value       = vnf_instance.firewall.status
}

output "servers" {
  description = "The servers with their addresses."
  value       = { for v in data.vnf_instance.firewall.vnfcs : v.resource => v.addresses }
}
