# A site with a cluster that is there already.
locals {
  units = "${dirname(find_in_parent_folders("root.hcl"))}/catalog/units"
}

unit "vim" {
  source = "${local.units}/vim"
  path   = "vim"

  values = {
    name       = values.site
    kubernetes = values.kubernetes
  }
}

unit "package" {
  source = "${local.units}/package"
  path   = "package"

  values = {
    name   = "hello"
    source = values.package
  }
}

unit "instance" {
  source = "${local.units}/instance"
  path   = "instance"

  values = {
    name         = "hello"
    namespace    = "hello-${values.site}"
    scale_levels = values.scale_levels
    vim_path     = "../vim"
    package_path = "../package"
  }
}
