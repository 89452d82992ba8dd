variable "kubeconfig" {
  description = "Path of a kubeconfig for the management cluster."
  type        = string
}

variable "clouds" {
  description = "Path of a clouds.yaml."
  type        = string
  default     = "~/.config/openstack/clouds.yaml"
}

variable "cloud" {
  description = "Name of the cloud in it."
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
  default     = "1.35.4"
}

variable "image" {
  description = "Name of the image of all machines, where %s stands for the version of Kubernetes. It has keepalived."
  type        = string
  default     = "node-v%s"
}

variable "flavor" {
  description = "Flavor of all machines."
  type        = string
  default     = "m1.small"
}

variable "interface" {
  description = "Name of the network interface of a machine."
  type        = string
  default     = "eth0"
}

variable "availability_zones" {
  description = "Availability zones of the control plane. Without any, Cluster API takes all that Nova has, also those without a place."
  type        = list(string)
  default     = ["nova"]
}

variable "external_network" {
  description = "Name of the external network of OpenStack."
  type        = string
  default     = "public"
}

variable "subnet" {
  description = "Addresses of the network that is made for the machines. The tenth is that of the API; it must be reachable."
  type        = string
  default     = "10.61.0.0/24"
}

variable "control_planes" {
  description = "Number of machines of the control plane: one, or three."
  type        = number
  default     = 1
}

variable "workers" {
  description = "Number of workers without an autoscaler."
  type        = number
  default     = 2
}

variable "autoscaler" {
  description = "Limits between which an autoscaler sets the number of workers; null for none."
  type        = object({ min = number, max = number })
  default     = null
}

variable "heal" {
  description = "Another trigger replaces the named machines, or all."
  type        = object({ trigger = string, machine_names = optional(set(string)) })
  default     = null
}

variable "credential" {
  description = "Any string. Another one issues a new application credential; the old one is deleted."
  type        = string
  default     = null
}

variable "flannel_chart" {
  description = "Folder of a copy of flannel's chart; null takes it from its vendor."
  type        = string
  default     = null
}
