terraform {
  required_version = ">= 1.11"
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }

  # The state is in the workspace.
  cloud {
    organization = "example"
    workspaces {
      name = "edge"
    }
  }
}
