variable "host" {
  description = "Address of a Debian or Ubuntu server."
  type        = string
}

variable "username" {
  description = "User of the server with the right to use sudo."
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
  description = "Passwords of the users of the registry, by name."
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
  deletion_policy  = { images = "keep" }
}

output "server" {
  description = "First part of the names of images in the registry."
  value       = vnf_private_registry.edge.server
}
