variable "store" {
  description = "Cluster and namespace of the provider's store."
  type = object({
    endpoint       = string
    ca_certificate = string
    namespace      = string
  })
}

variable "edge" {
  description = "Cluster of the network function."
  type = object({
    endpoint       = string
    ca_certificate = string
  })
}

variable "store_token" {
  description = "ID token of the job for the cluster of the store."
  type        = string
  sensitive   = true
  ephemeral   = true
}

variable "edge_token" {
  description = "ID token of the job for the cluster of the network function."
  type        = string
  sensitive   = true
  ephemeral   = true
}

variable "package" {
  description = "VNF package: a directory of the repository or a URL, the same in all jobs."
  type        = string
}

variable "namespace" {
  description = "Namespace of the network function. It is created."
  type        = string
  default     = "hello"
}
