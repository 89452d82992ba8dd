# Two sites: the north has a workload cluster of its own for the network function, the south a cluster that is there already.
locals {
  root = dirname(find_in_parent_folders("root.hcl"))

  # The cluster that makes the workload cluster. The runner has its token in a file, and renews it.
  management = {
    endpoint       = get_env("VNF_MANAGEMENT_ENDPOINT")
    ca_certificate = file(get_env("VNF_MANAGEMENT_CA_FILE"))
    token_file     = get_env("VNF_MANAGEMENT_TOKEN_FILE")
  }

  south = {
    endpoint       = get_env("VNF_SOUTH_ENDPOINT")
    ca_certificate = file(get_env("VNF_SOUTH_CA_FILE"))
    token_file     = get_env("VNF_SOUTH_TOKEN_FILE")
  }

  # A directory of the runner, or a URL with a checksum.
  package = "${local.root}/../packages/hello"
}

stack "north" {
  source = "${local.root}/catalog/stacks/cluster-site"
  path   = "north"

  values = {
    site       = "north"
    kubernetes = local.management
    package    = local.package
    cluster = {
      namespace          = get_env("VNF_CLUSTER_NAMESPACE", "clusters")
      kubernetes_version = "1.36.3"
      workers            = 1
    }
    scale_levels = {}
  }
}

stack "south" {
  source = "${local.root}/catalog/stacks/site"
  path   = "south"

  values = {
    site         = "south"
    kubernetes   = local.south
    package      = local.package
    scale_levels = { web = 1 }
  }
}
