# By the id of the management cluster, the namespace and the name of the cluster, or by its own id.
terraform import vnf_capi_workload_cluster.edge 0b9a2d4e-6f1c-4f0a-9d3b-2f7c1f5c8a11/edge/edge-1
