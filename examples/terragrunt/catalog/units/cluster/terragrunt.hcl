include "root" {
  path = find_in_parent_folders("root.hcl")
}

terraform {
  source = "${dirname(find_in_parent_folders("root.hcl"))}/catalog//modules/cluster"
}

dependency "management" {
  config_path = values.management_path

  # Before the VIM exists: any id. The plan then says what it can say without the VIM.
  mock_outputs                            = { vim_id = "00000000-0000-0000-0000-000000000000" }
  mock_outputs_allowed_terraform_commands = ["validate", "plan"]
}

inputs = {
  name               = values.name
  namespace          = values.namespace
  kubernetes_version = values.kubernetes_version
  workers            = values.workers
  management_vim_id  = dependency.management.outputs.vim_id
}
