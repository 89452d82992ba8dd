terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

provider "vnf" {
  vims = {
    # The variables OS_* of the environment of Terraform.
    region-one = { openstack = { from_environment = true } }
    # A cloud of the clouds.yaml of the machine.
    region-two = { openstack = { cloud = "region-two" } }
  }
}

resource "vnf_vim" "regions" {
  for_each = toset(["region-one", "region-two"])
  name     = each.key
}
