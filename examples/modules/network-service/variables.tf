variable "vim_id" {
  description = "Id of the VIM of the site."
  type        = string
}

variable "packages" {
  description = "VNF packages of the core and of the IMS."
  type = object({
    core = string
    ims  = string
  })
}

variable "level" {
  description = "Level of the whole service: small or large."
  type        = string
  default     = "small"

  validation {
    condition     = contains(["small", "large"], var.level)
    error_message = "The levels of the service are small and large."
  }
}
