variable "kubeconfig" {
  description = "Path of a kubeconfig for the management cluster."
  type        = string
}

variable "store" {
  description = "Path of the provider's store; null takes the default below the home directory."
  type        = string
  default     = null
}

variable "namespace" {
  description = "Namespace of the cluster on the management cluster. It is created."
  type        = string
  default     = "edge"
}

variable "kubernetes_version" {
  description = "Version of Kubernetes of the cluster."
  type        = string
  default     = "1.34.0"
}

variable "workers" {
  description = "Number of nodes of the node group workers."
  type        = number
  default     = 1
}

variable "burst" {
  description = "Whether the cluster has the autoscaled node group burst."
  type        = bool
  default     = true
}
