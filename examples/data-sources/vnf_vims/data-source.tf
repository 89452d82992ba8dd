terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

data "vnf_vims" "kubernetes" {
  type = "kubernetes"
}

# The API servers by the name of the VIM. Several VIMs can have the same name.
output "endpoints" {
  value = { for vim in data.vnf_vims.kubernetes.vims : vim.name => vim.endpoint... }
}
