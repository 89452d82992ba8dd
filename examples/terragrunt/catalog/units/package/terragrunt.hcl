include "root" {
  path = find_in_parent_folders("root.hcl")
}

terraform {
  source = "${dirname(find_in_parent_folders("root.hcl"))}/catalog//modules/package"
}

inputs = {
  name       = values.name
  source_url = values.source
}
