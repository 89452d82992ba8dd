terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

variable "vim_name" {
  description = "Name of a VIM that is registered in the store."
  type        = string
}

data "vnf_vim" "edge" {
  name = var.vim_name

  lifecycle {
    postcondition {
      condition     = self.status == "REACHABLE"
      error_message = "VIM ${self.name} is ${self.status}."
    }
  }
}

output "has_gateway_api" {
  value = anytrue([for group in data.vnf_vim.edge.api_groups : startswith(group, "gateway.networking.k8s.io/")])
}
