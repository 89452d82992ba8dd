output "endpoint" {
  description = "URL of the workload API, at the floating IP of its load balancer."
  value       = vnf_capi_workload_cluster.edge.endpoint
}

output "version" {
  description = "Version of Kubernetes that the control plane runs."
  value       = vnf_capi_workload_cluster.edge.running_kubernetes_version
}

output "workers" {
  description = "Number of available workers."
  value       = vnf_capi_workload_cluster.edge.node_groups_status["workers"].available_replicas
}

output "status" {
  description = "Status of the network function."
  value       = vnf_instance.portal.status
}
