variable "kubeconfig" {
  description = "Path of a kubeconfig of the cluster for the network function."
  type        = string
}

variable "store" {
  description = "Path of the provider's store; null takes the default below the home directory."
  type        = string
  default     = null
}

variable "package" {
  description = "VNF package of the network function; null takes the example package."
  type        = string
  default     = null
}

variable "namespace" {
  description = "Namespace of the network function. It is created."
  type        = string
  default     = "core5g"
}

variable "flavour" {
  description = "Deployment flavour: standard or compact."
  type        = string
  default     = "standard"
}

variable "scale_levels" {
  description = "Scale level per scaling aspect: control-plane, user-plane, subscriber-data."
  type        = map(number)
  default     = {}
}

variable "heal" {
  description = "Replaces VNFCs once for each new trigger: those named, those of the named VDUs, or all."
  type = object({
    trigger  = string
    cause    = optional(string)
    vnfc_ids = optional(set(string))
    vdu_ids  = optional(set(string))
  })
  default = null
}
