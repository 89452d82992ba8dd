terraform {
  required_version = ">= 1.11"
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

variable "kubeconfig" {
  description = "Path of a kubeconfig of the cluster."
  type        = string
  default     = "~/.kube/config"
}

variable "package" {
  description = "VNF package: a directory, a .csar file or an https URL."
  type        = string
  default     = "../../packages/website"
}

variable "namespace" {
  description = "Namespace of the network function. It is created, and deleted with it."
  type        = string
  default     = "website"
}

variable "level" {
  description = "Scale level of the aspect web: web servers, less one."
  type        = number
  default     = 0
}

variable "heal" {
  description = "Ids of VNFCs to replace; see the output vnfcs."
  type        = set(string)
  default     = []
}

# The cluster. The kubeconfig is write-only: it is in neither plan nor state.
resource "vnf_vim" "cluster" {
  name = "cluster"

  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
  }
}

# The VNF package: descriptor, manifest and Kubernetes objects. Its digests are verified when it is onboarded.
resource "vnf_package" "website" {
  name   = "website"
  source = var.package
}

# The network function: all its objects are one resource.
resource "vnf_instance" "website" {
  name         = "website"
  vim_id       = vnf_vim.cluster.id
  package_id   = vnf_package.website.id
  namespace    = var.namespace
  scale_levels = { web = var.level }

  # Another set of VNFCs is another trigger, so each is healed once.
  heal = length(var.heal) == 0 ? null : { trigger = join(" ", var.heal), vnfc_ids = var.heal }
}

data "vnf_instance" "website" {
  id = vnf_instance.website.id

  # Read again after each operation.
  depends_on = [vnf_instance.website]
}

output "status" {
  description = "Status of the network function."
  value       = vnf_instance.website.status
}

output "vnfcs" {
  description = "Ids of its VNFCs, the pods of its VDUs."
  value       = data.vnf_instance.website.vnfcs[*].id
}
