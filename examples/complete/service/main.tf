provider "vnf" {
  store = { local = { path = var.store } }
}

resource "vnf_vim" "edge" {
  name = "edge"

  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
  }
}

# A network service is a configuration of Terraform: its functions are modules, its levels a table, and the order in which the
# functions come and go follows from what they take of each other.
locals {
  levels = {
    small = { core = { control-plane = 0, user-plane = 0 }, ims = { calls = 0 } }
    large = { core = { control-plane = 1, user-plane = 2 }, ims = { calls = 3 } }
  }
}

module "core" {
  source = "./function"

  name         = "core5g"
  source_path  = "${path.module}/../../packages/core5g"
  vim_id       = vnf_vim.edge.id
  scale_levels = local.levels[var.level].core
}

module "ims" {
  source = "./function"

  name         = "ims"
  source_path  = "${path.module}/../../packages/ims-helm"
  vim_id       = vnf_vim.edge.id
  scale_levels = local.levels[var.level].ims

  params = {
    # What the core is reached by: the IMS comes after the core, and goes before it.
    helm_parameters = { "cscf.domain" = module.core.domain }
  }
}
