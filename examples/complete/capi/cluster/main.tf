provider "vnf" {
  store = { local = { path = var.store } }
}

# The management cluster: Cluster API and its providers run on it.
resource "vnf_vim" "management" {
  name = "management"

  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
  }
}

resource "vnf_capi_workload_cluster" "edge" {
  management_vim_id  = vnf_vim.management.id
  namespace          = var.namespace
  name               = "edge"
  kubernetes_version = var.kubernetes_version
  chart              = { name = "in-memory" }
  control_plane      = { replicas = 1 }

  node_groups = merge(
    { workers = { replicas = var.workers } },
    # An autoscaler sets the number of these nodes; it is not drift.
    var.burst ? { burst = { min_replicas = 1, max_replicas = 5 } } : {},
  )
}

# The kubeconfig, read when it is needed and stored nowhere. It may configure the
# configuration of another provider, or a write-only argument.
ephemeral "vnf_capi_workload_kubeconfig" "edge" {
  management_vim_id = vnf_capi_workload_cluster.edge.kubeconfig_ref.management_vim_id
  namespace         = vnf_capi_workload_cluster.edge.kubeconfig_ref.namespace
  name              = vnf_capi_workload_cluster.edge.kubeconfig_ref.name

  # A certificate of its own for an hour, instead of the administrator's for a year. Its rights
  # are those that RBAC of the workload cluster binds to the group.
  certificate_request = { common_name = "pipeline", organizations = ["pipelines"], ttl = "1h" }
}
