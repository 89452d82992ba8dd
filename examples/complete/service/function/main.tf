# One network function of the service: its package and its instance.

variable "name" {
  description = "Name of the network function, its package and its namespace."
  type        = string
}

variable "source_path" {
  description = "Path of the VNF package."
  type        = string
}

variable "vim_id" {
  description = "Id of the VIM."
  type        = string
}

variable "scale_levels" {
  description = "Scale level per scaling aspect."
  type        = map(number)
}

variable "params" {
  description = "Additional parameters, such as the addresses of other functions of the service."
  type        = any
  default     = {}
}

resource "vnf_package" "this" {
  name   = var.name
  source = var.source_path
}

resource "vnf_instance" "this" {
  name              = var.name
  vim_id            = var.vim_id
  package_id        = vnf_package.this.id
  namespace         = var.name
  scale_levels      = var.scale_levels
  additional_params = var.params

  deletion_policy = { volumes = "delete" }
}

# The name is that of the instance, so that what refers to it waits for the instance.
output "domain" {
  description = "Domain of the Services of the network function in its cluster."
  value       = "${vnf_instance.this.name}.svc.cluster.local"
}

output "vdus" {
  description = "Number of VNFCs of each VDU."
  value       = vnf_instance.this.vnfc_counts
}
