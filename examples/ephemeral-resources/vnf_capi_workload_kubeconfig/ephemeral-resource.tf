# Opened when the cluster is ready, and stored nowhere.
ephemeral "vnf_capi_workload_kubeconfig" "edge" {
  management_vim_id = vnf_capi_workload_cluster.edge.kubeconfig_ref.management_vim_id
  namespace         = vnf_capi_workload_cluster.edge.kubeconfig_ref.namespace
  name              = vnf_capi_workload_cluster.edge.kubeconfig_ref.name

  # A certificate for an hour, with the rights that RBAC gives to the group.
  certificate_request = { common_name = "pipeline", organizations = ["deployers"], ttl = "1h" }
}

provider "kubernetes" {
  host                   = ephemeral.vnf_capi_workload_kubeconfig.edge.host
  cluster_ca_certificate = ephemeral.vnf_capi_workload_kubeconfig.edge.cluster_ca_certificate
  client_certificate     = ephemeral.vnf_capi_workload_kubeconfig.edge.client_certificate
  client_key             = ephemeral.vnf_capi_workload_kubeconfig.edge.client_key
}
