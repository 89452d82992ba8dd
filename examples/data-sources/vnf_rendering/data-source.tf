terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# The objects of an instance, shown by terraform plan before anything is applied.
data "vnf_rendering" "gateway" {
  source       = "${path.module}/../../packages/gateway"
  scale_levels = { proxy = 2 }
}

output "objects" {
  value = data.vnf_rendering.gateway.object_manifests
}

output "proxies" {
  value = data.vnf_rendering.gateway.vdus["proxy"].replicas
}

# The same for an onboarded package.
resource "vnf_package" "hello" {
  name   = "hello"
  source = "${path.module}/../../packages/hello"
}

data "vnf_rendering" "hello" {
  package_id = vnf_package.hello.id
}

output "deployment" {
  value = data.vnf_rendering.hello.object_manifests["apps/v1/Deployment web"]
}
