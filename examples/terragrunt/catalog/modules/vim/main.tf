variable "name" {
  description = "Name of the VIM."
  type        = string
}

variable "kubernetes" {
  description = "Connection to the cluster. The token is in a file of the runner: none is in state, plan or store."
  type = object({
    endpoint       = string
    ca_certificate = string
    token_file     = string
  })
}

resource "vnf_vim" "this" {
  name       = var.name
  kubernetes = var.kubernetes
}

output "vim_id" {
  description = "Id of the VIM."
  value       = vnf_vim.this.id
}
