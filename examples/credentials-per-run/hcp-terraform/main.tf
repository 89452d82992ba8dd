terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# HCP Terraform sets this variable when TFC_KUBERNETES_PROVIDER_AUTH is true in the workspace. The
# file has an OIDC token of the run, which the API server must accept.
variable "tfc_kubernetes_dynamic_credentials" {
  type = object({
    default = object({ token_path = string })
    aliases = map(object({ token_path = string }))
  })
}

variable "ca_certificate" {
  type = string
}

provider "vnf" {
  vims = {
    edge = {
      kubernetes = {
        endpoint       = "https://edge.example.com:6443"
        ca_certificate = var.ca_certificate
        token_file     = var.tfc_kubernetes_dynamic_credentials.default.token_path
      }
    }
  }
}

# The connection is the entry of vims with this name.
resource "vnf_vim" "edge" {
  name = "edge"
}
