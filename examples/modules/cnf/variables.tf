variable "name" {
  description = "Name of the network function, and of its namespace if none is given."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", var.name))
    error_message = "The name becomes that of a namespace: lower-case letters, digits and hyphens."
  }
}

variable "vim_id" {
  description = "Id of the VIM, such as the output vim_id of the module site."
  type        = string
}

variable "package" {
  description = "VNF package: a directory, a .csar file or an https URL."
  type        = string

  validation {
    condition     = !startswith(var.package, "http://")
    error_message = "Over plain http anybody on the way can replace the package: use https."
  }
}

variable "namespace" {
  description = "Namespace of the network function; null takes its name."
  type        = string
  default     = null
}

variable "scale_levels" {
  description = "Scale level for each scaling aspect of the VNFD."
  type        = map(number)
  default     = {}

  validation {
    condition     = alltrue([for level in values(var.scale_levels) : level >= 0 && floor(level) == level])
    error_message = "Scale levels are whole numbers from 0."
  }
}

variable "params" {
  description = "Additional parameters without secrets, such as helm_parameters."
  type        = any
  default     = {}
}

variable "keep_volumes" {
  description = "Whether volumes stay when the network function is destroyed."
  type        = bool
  default     = true
}
