provider "vnf" {
  store = { local = { path = var.store } }
}

# The cluster. Its credentials are write-only: they reach neither state nor plan,
# and lie sealed in the provider's store.
resource "vnf_vim" "edge" {
  name = "edge"

  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
  }
}

# The VNF package: a directory here; a .csar file or an https URL works the same way.
# A changed content is a new version: the instance is upgraded in place.
resource "vnf_package" "core5g" {
  name   = "core5g"
  source = coalesce(var.package, "${path.module}/../../packages/core5g")
}

# The network function: 60 objects, one resource.
resource "vnf_instance" "core5g" {
  name         = "core5g"
  description  = "5G core of the edge site"
  vim_id       = vnf_vim.edge.id
  package_id   = vnf_package.core5g.id
  flavour_id   = var.flavour
  namespace    = var.namespace
  scale_levels = var.scale_levels
  heal         = var.heal

  deletion_policy = { volumes = "delete" }
}
