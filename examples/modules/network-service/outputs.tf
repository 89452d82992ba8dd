output "vdus" {
  description = "Number of VNFCs for each VDU, by network function."
  value       = { core = module.core.vdus, ims = module.ims.vdus }
}
