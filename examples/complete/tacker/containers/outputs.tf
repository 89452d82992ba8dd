output "status" {
  description = "Status of the instance."
  value       = vnf_instance.hello.status
}
