terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

resource "vnf_package" "gateway" {
  name   = "gateway"
  source = "${path.module}/../../packages/gateway"
}

# What an instance of the package would consist of, before there is one.
data "vnf_rendering" "gateway" {
  package_id   = vnf_package.gateway.id
  scale_levels = { proxy = 2 }
}

output "objects" {
  value = data.vnf_rendering.gateway.objects
}

output "proxies" {
  value = data.vnf_rendering.gateway.vdus["proxy"].replicas
}
