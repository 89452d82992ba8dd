# The values are kept in the state: prefer the ephemeral resource of the same name.
data "vnf_capi_workload_kubeconfig" "edge" {
  management_vim_id = vnf_vim.management.id
  namespace         = "edge"
  name              = "edge-1"
}

output "expires" {
  value = data.vnf_capi_workload_kubeconfig.edge.not_after
}
