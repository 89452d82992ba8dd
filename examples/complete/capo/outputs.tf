output "endpoint" {
  description = "URL of the workload API."
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

output "credential" {
  description = "Id of the application credential of the cluster."
  value       = vnf_capi_workload_cluster.edge.application_credential_id
}

output "status" {
  description = "Status of the network function."
  value       = vnf_instance.portal.status
}

output "service" {
  description = "Where the network function answers; each of its pods says its name."
  value       = "http://${local.api_address}:30080"
}
