variable "clouds" {
  description = "Path of a clouds.yaml."
  type        = string
  default     = "~/.config/openstack/clouds.yaml"
}

variable "cloud" {
  description = "Name of the cloud in it."
  type        = string
}

variable "control_network" {
  description = "Id of the network from which the traffic source is controlled."
  type        = string
}

variable "outside_network" {
  description = "Id of the network that the firewall protects from."
  type        = string
}

variable "flavour" {
  description = "Deployment flavour: `simple` (a resource for each firewall), `group` (an auto-scaling group) or `plain` (no template: the VNFD is translated)."
  type        = string
  default     = "simple"
}

variable "level" {
  description = "Scale level of the aspect fw: firewalls, less one."
  type        = number
  default     = 0
}

variable "store" {
  description = "Path of the provider's store; null takes the default below the home directory."
  type        = string
  default     = null
}
