output "vim_id" {
  description = "Id of the VIM, for the instances of the site."
  value       = vnf_vim.this.id
}

output "status" {
  description = "REACHABLE, or UNREACHABLE while the cluster does not answer."
  value       = vnf_vim.this.status
}
