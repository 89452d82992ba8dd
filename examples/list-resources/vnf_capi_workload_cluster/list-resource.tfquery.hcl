variable "management_vim_id" {
  type = string
}

# terraform query -generate-config-out=generated.tf, with Terraform 1.14 or newer.
# Of a cluster that another tool has made, such as OpenStack Magnum, generated configuration has the place and the version: add the form,
# the node groups and adopt_existing = true.
list "vnf_capi_workload_cluster" "all" {
  provider = vnf
  config {
    management_vim_id = var.management_vim_id
  }
}
