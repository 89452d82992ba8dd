variable "kubeconfig" {
  description = "Path of a kubeconfig of the cluster for the network functions."
  type        = string
}

variable "store" {
  description = "Path of the provider's store; null takes the default below the home directory."
  type        = string
  default     = null
}

variable "capacity" {
  description = "Scale level of the aspect capacity: carriers on the air, less one."
  type        = number
  default     = 0
}
