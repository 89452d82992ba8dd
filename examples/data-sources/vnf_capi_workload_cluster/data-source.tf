variable "management_cluster_id" {
  description = "Id of the vnf_vim that is the management cluster."
  type        = string
}

data "vnf_capi_workload_cluster" "edge" {
  management_vim_id = var.management_cluster_id
  namespace         = "edges"
  name              = "edge"
}

# The machines that are not ready, and why.
output "unready" {
  value = { for m in data.vnf_capi_workload_cluster.edge.machines : m.name => m.message if !m.ready }
}
