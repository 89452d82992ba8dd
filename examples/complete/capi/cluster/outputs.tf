output "endpoint" {
  description = "URL of the workload API."
  value       = vnf_capi_workload_cluster.edge.endpoint
}

output "version" {
  description = "Version of Kubernetes that the control plane runs."
  value       = vnf_capi_workload_cluster.edge.running_kubernetes_version
}

output "nodes" {
  description = "Number of available nodes per node group."
  value       = { for name, group in vnf_capi_workload_cluster.edge.node_groups_status : name => group.available_replicas }
}
