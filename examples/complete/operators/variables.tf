variable "kubeconfig" {
  description = "Path of a kubeconfig for the cluster that the network functions shall run on."
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
