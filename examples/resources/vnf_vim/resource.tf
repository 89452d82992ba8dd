terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

variable "kubeconfig" {
  description = "Path of a kubeconfig that holds everything itself (kubectl config view --raw --flatten)."
  type        = string
}

# The kubeconfig is sealed in the store. It reaches neither plan nor state
# (write-only arguments need Terraform 1.11). Increment the version to rotate it.
resource "vnf_vim" "edge" {
  name        = "edge"
  description = "Kubernetes at the edge site"

  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
    default_namespace     = "default"
  }

  timeouts = {
    create = "30s"
  }
}

# The same server with the credentials of its kubeconfig one by one.
locals {
  access = provider::vnf::parse_kubeconfig(file(pathexpand(var.kubeconfig)))
}

resource "vnf_vim" "by_certificate" {
  name = "edge by certificate"

  kubernetes = {
    endpoint              = local.access.host
    ca_certificate        = local.access.cluster_ca_certificate
    client_certificate    = local.access.client_certificate
    client_key_wo         = local.access.client_key
    client_key_wo_version = 1
  }
}

output "edge" {
  value = "${vnf_vim.edge.endpoint} runs Kubernetes ${vnf_vim.edge.server_version}"
}
