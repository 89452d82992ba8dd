terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# A lease of Vault's Kubernetes secrets engine, for one run:
#   export TF_VAR_lease=$(vault write -field=service_account_token \
#     kubernetes/creds/deployer kubernetes_namespace=core)
variable "lease" {
  type      = string
  sensitive = true
  ephemeral = true
}

provider "vnf" {
  vims = {
    core = { kubernetes = { endpoint = "https://core.example.com:6443", bearer_token = var.lease } }
  }
}

resource "vnf_vim" "core" {
  name = "core"
}
