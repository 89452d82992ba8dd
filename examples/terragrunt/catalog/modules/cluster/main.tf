variable "name" {
  description = "Name of the cluster."
  type        = string
}

variable "namespace" {
  description = "Namespace of the cluster on the management cluster. It is created."
  type        = string
}

variable "management_vim_id" {
  description = "Id of the VIM of the management cluster."
  type        = string
}

variable "kubernetes_version" {
  description = "Version of Kubernetes of the cluster."
  type        = string
}

variable "workers" {
  description = "Number of nodes."
  type        = number
}

resource "vnf_capi_workload_cluster" "this" {
  management_vim_id  = var.management_vim_id
  namespace          = var.namespace
  name               = var.name
  kubernetes_version = var.kubernetes_version
  control_plane      = { replicas = 1 }
  node_groups        = { workers = { replicas = var.workers } }

  # That of the lab; yours is one of your infrastructure provider.
  clusterctl_template = { content = file("${path.module}/cluster-template.yaml") }
}

# The cluster as a VIM. Its credentials are read from the management cluster at each use.
resource "vnf_vim" "this" {
  name       = var.name
  kubernetes = { kubeconfig_ref = vnf_capi_workload_cluster.this.kubeconfig_ref }
}

output "vim_id" {
  description = "Id of the cluster as a VIM."
  value       = vnf_vim.this.id
}
