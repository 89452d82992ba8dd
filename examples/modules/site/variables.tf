variable "name" {
  description = "Name of the site and of its VIM."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", var.name))
    error_message = "The name of a site has lower-case letters, digits and hyphens."
  }
}

variable "kubeconfig" {
  description = "Kubeconfig of the site's cluster, as text. It reaches neither plan nor state."
  type        = string
  ephemeral   = true
  sensitive   = true
}

variable "kubeconfig_version" {
  description = "Increment it when the kubeconfig changes: Terraform cannot see a change of an ephemeral value."
  type        = number
  default     = 1

  validation {
    condition     = var.kubeconfig_version >= 1
    error_message = "Versions begin with 1."
  }
}
