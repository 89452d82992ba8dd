# What the level of the service means for its functions, as the VnfLevels of an NSD.
locals {
  levels = {
    small = { core = { control-plane = 0, user-plane = 0 }, ims = { calls = 0 } }
    large = { core = { control-plane = 1, user-plane = 2 }, ims = { calls = 3 } }
  }
}

module "core" {
  source = "../cnf"

  name         = "core5g"
  vim_id       = var.vim_id
  package      = var.packages.core
  scale_levels = local.levels[var.level].core
}

module "ims" {
  source = "../cnf"

  name         = "ims"
  vim_id       = var.vim_id
  package      = var.packages.ims
  scale_levels = local.levels[var.level].ims

  # The IMS finds the core here. It comes after the core, and goes before it.
  params = { helm_parameters = { "cscf.domain" = module.core.domain } }
}
