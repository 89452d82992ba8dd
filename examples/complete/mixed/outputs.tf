output "vdus" {
  description = "Number of VNFCs of each VDU, servers and pods."
  value       = vnf_instance.firewall.vnfc_counts
}
