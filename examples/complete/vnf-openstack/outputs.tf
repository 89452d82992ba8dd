output "status" {
  description = "Status of the VNF instance."
  value       = vnf_instance.firewall.status
}

output "servers" {
  description = "The servers with their addresses, by connection point."
  value       = { for v in data.vnf_instance.firewall.vnfcs : v.resource_name => v.connection_points }
}
