variable "kubeconfig" {
  description = "Path of a kubeconfig of the cluster for the network functions."
  type        = string
}

variable "level" {
  description = "Level of the whole service: small or large."
  type        = string
  default     = "small"
}

variable "store" {
  description = "Path of the provider's store; null takes the default below the home directory."
  type        = string
  default     = null
}
