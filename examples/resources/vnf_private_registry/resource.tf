variable "host" {
  description = "Address of a Debian or Ubuntu server."
  type        = string
}

variable "username" {
  description = "User of the server, who may use sudo."
  type        = string
  default     = "ubuntu"
}

variable "password" {
  description = "Password of the user."
  type        = string
  sensitive   = true
  ephemeral   = true
}

variable "image_path" {
  description = "Absolute path of a file that `docker save` wrote; null pulls the image."
  type        = string
  default     = null
}

variable "users" {
  description = "Passwords of those who may use the registry, by name."
  type        = map(string)
  sensitive   = true
  ephemeral   = true
  default     = { planter = "change-me-soon" }
}

resource "vnf_private_registry" "edge" {
  host = var.host
  ssh = {
    username            = var.username
    password_wo         = var.password
    password_wo_version = 1
  }

  image_path       = var.image_path
  port             = 5000
  users_wo         = var.users
  users_wo_version = 1
  keep_data        = true
}

output "server" {
  description = "How names of images begin that are in the registry."
  value       = vnf_private_registry.edge.server
}
