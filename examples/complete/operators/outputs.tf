output "carriers" {
  description = "Number of carriers; a custom resource holds it."
  value       = vnf_instance.radio.vnfc_counts["carriers"]
}

output "status" {
  description = "Status of the network functions."
  value       = { for i in [vnf_instance.radio, vnf_instance.ims] : i.name => i.status }
}
