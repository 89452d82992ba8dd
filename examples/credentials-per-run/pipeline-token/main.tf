terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# GitLab: id_tokens: { TF_VAR_oidc_token: { aud: https://edge.example.com:6443 } } in the job.
variable "oidc_token" {
  type      = string
  sensitive = true
  ephemeral = true
}

provider "vnf" {
  vims = {
    edge = { kubernetes = { endpoint = "https://edge.example.com:6443", bearer_token = var.oidc_token } }
  }
}

resource "vnf_vim" "edge" {
  name = "edge"
}
