output "status" {
  description = "Status of the instance."
  value       = vnf_instance.firewall.status
}
