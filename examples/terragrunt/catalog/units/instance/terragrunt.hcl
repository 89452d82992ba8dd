include "root" {
  path = find_in_parent_folders("root.hcl")
}

terraform {
  source = "${dirname(find_in_parent_folders("root.hcl"))}/catalog//modules/instance"
}

dependency "vim" {
  config_path = values.vim_path

  mock_outputs                            = { vim_id = "00000000-0000-0000-0000-000000000000" }
  mock_outputs_allowed_terraform_commands = ["validate", "plan"]
}

dependency "package" {
  config_path = values.package_path

  mock_outputs                            = { package_id = "00000000-0000-0000-0000-000000000000" }
  mock_outputs_allowed_terraform_commands = ["validate", "plan"]
}

inputs = {
  name         = values.name
  namespace    = values.namespace
  scale_levels = values.scale_levels
  vim_id       = dependency.vim.outputs.vim_id
  package_id   = dependency.package.outputs.package_id
}
