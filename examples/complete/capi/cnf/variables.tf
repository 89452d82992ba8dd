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
  default     = "core"
}

variable "cluster_template" {
  description = "Path of a cluster template of your infrastructure provider; null takes that of the lab."
  type        = string
  default     = null
}

variable "template_variables" {
  description = "Values of the variables of the cluster template."
  type        = map(string)
  default     = {}
}

variable "kubernetes_version" {
  description = "Version of Kubernetes of the cluster."
  type        = string
  default     = "1.36.3"
}

variable "workers" {
  description = "Number of nodes."
  type        = number
  default     = 3
}
