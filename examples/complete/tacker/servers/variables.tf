variable "vim_config" {
  description = "Path of the VIM configuration file."
  type        = string
  default     = "vim.yaml"
}

variable "request" {
  description = "Path of the instantiate request."
  type        = string
  default     = "request.json"
}

variable "package" {
  description = "VNF package of the network function; null takes the example package."
  type        = string
  default     = null
}
