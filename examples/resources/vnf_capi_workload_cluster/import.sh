# By the id of the cluster, or by management cluster, namespace and name, with the name or the id of the management cluster's vnf_vim.
#
# A cluster that this provider made and the store does not know is found on the management cluster, with its id. An import has no
# configuration: the next plan shows an update in place, and its apply changes only what differs on the management cluster.
#
# A cluster of another tool is imported by its namespace and name. The state then holds what the management cluster shows:
# management_vim_id, namespace, name, the running version, endpoint, conditions and counts; status is UNKNOWN. The form and all other
# arguments are those of the configuration, and the next apply takes the objects over, in place. It needs adopt_existing = true, and
# force_conflicts = true for as long as another tool owns fields that the configuration changes. Such a cluster cannot be destroyed
# before that apply.
terraform import vnf_capi_workload_cluster.edge management/edge/edge-1
