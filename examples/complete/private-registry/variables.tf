variable "clouds" {
  description = "Path of a clouds.yaml."
  type        = string
  default     = "~/.config/openstack/clouds.yaml"
}

variable "cloud" {
  description = "Name of the cloud in it."
  type        = string
}

variable "network" {
  description = "Id of the network that the servers are on; this machine must reach it."
  type        = string
}

variable "image" {
  description = "Id of the image that the servers boot."
  type        = string
}

variable "username" {
  description = "User of the servers with the right to use sudo."
  type        = string
  default     = "ubuntu"
}

variable "password" {
  description = "Password of the user."
  type        = string
  sensitive   = true
  ephemeral   = true
}

variable "registry_archive" {
  description = "Absolute path of the registry's image, a file that `docker save` wrote; null pulls it."
  type        = string
  default     = null
}

variable "heal" {
  description = "Any string; changing it heals once."
  type        = string
  default     = null
}

variable "store" {
  description = "Path of the provider's store; null takes the default below the home directory."
  type        = string
  default     = null
}
