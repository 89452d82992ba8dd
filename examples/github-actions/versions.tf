terraform {
  required_version = ">= 1.11"
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }

  # The state is in a namespace of a cluster; KUBE_… in the workflow say which.
  backend "kubernetes" {
    secret_suffix = "edge"
  }
}
