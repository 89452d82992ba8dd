# A site whose network function has a workload cluster of its own.
locals {
  units = "${dirname(find_in_parent_folders("root.hcl"))}/catalog/units"
}

unit "management" {
  source = "${local.units}/vim"
  path   = "management"

  values = {
    name       = "management-${values.site}"
    kubernetes = values.kubernetes
  }
}

unit "cluster" {
  source = "${local.units}/cluster"
  path   = "cluster"

  values = {
    name               = values.site
    namespace          = values.cluster.namespace
    kubernetes_version = values.cluster.kubernetes_version
    workers            = values.cluster.workers
    management_path    = "../management"
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
    vim_path     = "../cluster"
    package_path = "../package"
  }
}
