terraform {
  required_version = ">= 1.11"
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}
