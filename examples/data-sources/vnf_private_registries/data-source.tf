terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

data "vnf_private_registries" "all" {}

output "servers" {
  value = [for registry in data.vnf_private_registries.all.private_registries : registry.server]
}
