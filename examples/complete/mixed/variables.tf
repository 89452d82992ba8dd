variable "clouds" {
  description = "Path of a clouds.yaml."
  type        = string
  default     = "~/.config/openstack/clouds.yaml"
}

variable "cloud" {
  description = "Name of the cloud in it."
  type        = string
}

variable "kubeconfig" {
  description = "Path of a kubeconfig of the cluster."
  type        = string
}

variable "namespace" {
  description = "Namespace of the pods."
  type        = string
  default     = "watched-firewall"
}

variable "network" {
  description = "Id of a network of the project that is routed to the nodes of the cluster."
  type        = string
}

variable "addresses" {
  description = "Addresses of the firewalls in that network, one for each that there can be."
  type        = list(string)
}

variable "node_address" {
  description = "Address that leads to the nodes of the cluster, at which the firewalls reach the collector."
  type        = string
}

variable "node_port" {
  description = "Port of the collector on every node."
  type        = number
  default     = 30514
}

variable "firewalls" {
  description = "Number of firewalls, 1 to 3."
  type        = number
  default     = 1
}

variable "watchers" {
  description = "Number of watchers, 1 to 3."
  type        = number
  default     = 1
}

variable "store" {
  description = "Path of the provider's store; null takes the default below the home directory."
  type        = string
  default     = null
}
