# By name or by id. Secrets are not imported: the next apply sends those of the
# configuration, in place.
terraform import vnf_vim.edge edge
