# A cluster of a template whose chart is in a registry with a password.
variable "registry_password" {
  type      = string
  ephemeral = true
}

resource "vnf_capi_workload_cluster" "addons" {
  management_vim_id = vnf_vim.management.id
  name              = "addons"

  cluster_template = {
    definition        = vnf_capi_cluster_template.addons.definition
    chart_credentials = { username = "installer", password_wo = var.registry_password, password_wo_version = 1 }
  }
}
