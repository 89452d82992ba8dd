terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

data "vnf_capi_workload_clusters" "all" {}

# The clusters whose last operation has not completed.
output "incomplete" {
  value = {
    for cluster in data.vnf_capi_workload_clusters.all.workload_clusters :
    "${cluster.namespace}/${cluster.name}" => cluster.status... if cluster.status != "READY"
  }
}
