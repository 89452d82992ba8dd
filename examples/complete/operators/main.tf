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

# A package of custom resources, their definitions and their operator: one apply.
resource "vnf_package" "radio" {
  name   = "radio"
  source = "${path.module}/../../packages/radio"
}

resource "vnf_instance" "radio" {
  name         = "radio"
  vim_id       = vnf_vim.edge.id
  package_id   = vnf_package.radio.id
  namespace    = "radio"
  scale_levels = { capacity = var.capacity }

  # Definitions belong to the whole cluster: they are deleted with the instance unless
  # others have objects of their kinds. With "keep" they always stay.
  deletion_policy = { crds = "delete" }
}

# A package that is a Helm chart.
resource "vnf_package" "ims" {
  name   = "ims"
  source = "${path.module}/../../packages/ims-helm"
}

resource "vnf_instance" "ims" {
  name         = "ims"
  description  = "voice over generation ${vnf_instance.radio.generation} of the radio network"
  vim_id       = vnf_vim.edge.id
  package_id   = vnf_package.ims.id
  namespace    = "ims"
  scale_levels = { calls = 1 }

  additional_params = {
    helm_value_names = { cscf = { replica = "cscf.replicas" } }
  }

  deletion_policy = { volumes = "delete" }
}
