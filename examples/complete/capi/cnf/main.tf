provider "vnf" {
  store = { local = { path = var.store } }
}

# The management cluster.
resource "vnf_vim" "management" {
  name = "management"

  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
  }
}

# The workload cluster.
resource "vnf_capi_workload_cluster" "core" {
  management_vim_id  = vnf_vim.management.id
  namespace          = var.namespace
  name               = "core"
  kubernetes_version = var.kubernetes_version
  control_plane      = { replicas = 1 }
  node_groups        = { workers = { replicas = var.workers } }

  clusterctl_template = {
    content   = file(coalesce(var.cluster_template, "${path.module}/cluster-template.yaml"))
    variables = var.template_variables
  }
}

ephemeral "vnf_capi_workload_kubeconfig" "core" {
  management_vim_id = vnf_capi_workload_cluster.core.kubeconfig_ref.management_vim_id
  namespace         = vnf_capi_workload_cluster.core.kubeconfig_ref.namespace
  name              = vnf_capi_workload_cluster.core.kubeconfig_ref.name
}

# The workload cluster as a VIM, with credentials that reach neither state nor plan.
# With kubeconfig_ref = vnf_capi_workload_cluster.core.kubeconfig_ref instead, none
# are stored at all, and a rotation is followed.
resource "vnf_vim" "core" {
  name = "core"

  kubernetes = {
    kubeconfig_wo         = ephemeral.vnf_capi_workload_kubeconfig.core.kubeconfig
    kubeconfig_wo_version = 1
  }
}

resource "vnf_package" "core5g" {
  name   = "core5g"
  source = "${path.module}/../../../packages/core5g"
}

# The network function on it.
resource "vnf_instance" "core5g" {
  name       = "core5g"
  vim_id     = vnf_vim.core.id
  package_id = vnf_package.core5g.id
  flavour_id = "compact"
  namespace  = "core5g"

  deletion_policy = { volumes = "delete" }
}
