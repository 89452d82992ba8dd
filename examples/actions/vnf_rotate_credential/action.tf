terraform {
  required_version = ">= 1.14"
}

# terraform apply -invoke=action.vnf_rotate_credential.edge
action "vnf_rotate_credential" "edge" {
  config {
    cluster_id = vnf_capi_workload_cluster.edge.id
  }
}
