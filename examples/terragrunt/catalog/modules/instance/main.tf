variable "name" {
  description = "Name of the network function."
  type        = string
}

variable "namespace" {
  description = "Namespace of the network function. It is created."
  type        = string
}

variable "vim_id" {
  description = "Id of the VIM."
  type        = string
}

variable "package_id" {
  description = "Id of the package."
  type        = string
}

variable "scale_levels" {
  description = "Scale level per scaling aspect."
  type        = map(number)
  default     = {}
}

resource "vnf_instance" "this" {
  name         = var.name
  vim_id       = var.vim_id
  package_id   = var.package_id
  namespace    = var.namespace
  scale_levels = var.scale_levels
}

output "instance_id" {
  description = "Id of the instance."
  value       = vnf_instance.this.id
}
