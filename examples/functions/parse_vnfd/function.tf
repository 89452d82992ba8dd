terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

locals {
  vnfd = provider::vnf::parse_vnfd(file("${path.module}/../../packages/hello/hello.yaml"))
}

output "product" {
  value = "${local.vnfd.product_name} ${local.vnfd.software_version}"
}

output "vdus" {
  value = { for id, vdu in local.vnfd.flavours[local.vnfd.default_flavour_id].vdus : id => vdu.max_instances }
}
