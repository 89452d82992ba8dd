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

variable "ansible_address" {
  description = "IP address of the server that has Ansible and kubespray."
  type        = string
}

variable "kubespray_root_path" {
  description = "Folder of kubespray on it."
  type        = string
  default     = "/home/ubuntu/kubespray"
}

variable "masters" {
  description = "Scale level of the aspect master_instance: `0` is one master, `1` three."
  type        = number
  default     = 0
}

variable "workers" {
  description = "Scale level of the aspect worker_instance: workers, less one."
  type        = number
  default     = 0
}

variable "heal_vdus" {
  description = "VDUs that `heal` replaces; empty means the whole cluster."
  type        = list(string)
  default     = []
}
