# The chart of a template comes from a repository or registry; who fetches it says each cluster.
resource "vnf_capi_cluster_template" "addons" {
  name  = "addons-1.34"
  image = { name = "ubuntu-2404-kube-v1.34.0", kube_version = "v1.34.0", os_distro = "ubuntu" }

  chart = {
    oci     = "oci://registry.example.org/charts/openstack-cluster"
    version = "~0.16"
  }
}

variable "registry_password" {
  type      = string
  ephemeral = true
}

resource "vnf_capi_workload_cluster" "addons" {
  vim_id = "management"
  name   = "addons"

  cluster_template = {
    definition        = vnf_capi_cluster_template.addons.definition
    chart_credentials = { username = "installer", password_wo = var.registry_password, password_wo_version = 1 }
  }
}
