output "vdus" {
  description = "Number of VNFCs of each VDU, servers and pods."
  value       = { for id, vdu in vnf_instance.firewall.vdus : id => vdu.replicas }
}
