terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# A directory, a .zip or .csar file, or an https URL. A changed content shows in
# the next plan as a new version, in place.
resource "vnf_package" "hello" {
  name   = "hello"
  source = "${path.module}/../../packages/hello"

  integrity = "enforce"
  signature = "verify_if_present"
}

# What the package says of itself is known in the plan, also in the first one.
output "product" {
  value = "${vnf_package.hello.product_name} ${vnf_package.hello.software_version}"
}

# The data source has the deployment flavours and the digests of the artifacts.
data "vnf_package" "hello" {
  id = vnf_package.hello.id
}

output "scaling_aspects" {
  value = {
    for flavour_id, flavour in data.vnf_package.hello.flavours : flavour_id => {
      for aspect_id, aspect in flavour.scaling_aspects : aspect_id => aspect.max_level
    }
  }
}
