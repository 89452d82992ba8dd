data "vnf_instances" "all" {}

# VNFCs that are not ready, over all instances, and why.
output "not_ready" {
  value = flatten([
    for instance in data.vnf_instances.all.instances : [
      for vnfc in instance.vnfcs : "${instance.name}: ${vnfc.resource_name} is ${vnfc.state}" if !vnfc.ready
    ]
  ])
}
