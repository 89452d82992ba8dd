include "root" {
  path = find_in_parent_folders("root.hcl")
}

terraform {
  source = "${dirname(find_in_parent_folders("root.hcl"))}/catalog//modules/vim"
}

inputs = {
  name       = values.name
  kubernetes = values.kubernetes
}
