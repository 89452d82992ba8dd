# By the id of the management cluster, the namespace and the name of the cluster, or by its own id in the store.
#
# The first form also imports a cluster that the store does not know, for example of another tool. The state then holds what the management
# cluster shows: management_vim_id, namespace, name, the running version, endpoint, conditions and counts; status is UNKNOWN.
# The form and all other arguments are those of the configuration, and the next apply takes the objects over, in place. It needs
# adopt_existing = true, and force_conflicts = true for as long as another tool owns fields that the configuration changes. A
# cluster that this provider made keeps its id and needs neither. Nothing that an import brings can be destroyed before that apply.
terraform import vnf_capi_workload_cluster.edge 0b9a2d4e-6f1c-4f0a-9d3b-2f7c1f5c8a11/edge/edge-1
