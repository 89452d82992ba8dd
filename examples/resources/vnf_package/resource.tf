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

# Everything that the package says is known in the plan, also in the first one.
output "scaling_aspects" {
  value = {
    for flavour_id, flavour in vnf_package.hello.flavours : flavour_id => {
      for aspect_id, aspect in flavour.scaling_aspects : aspect_id => aspect.max_level
    }
  }
}
