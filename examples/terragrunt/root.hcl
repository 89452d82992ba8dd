# What all units have in common: where Terraform's state is, and where the provider's store is. Both are in the management cluster,
# in namespaces of their own, so that any runner finds them.
locals {
  kubeconfig      = get_env("VNF_KUBECONFIG", "~/.kube/config")
  store_namespace = get_env("VNF_STORE_NAMESPACE", "vnf-store")
  state_namespace = get_env("VNF_STATE_NAMESPACE", "terraform-state")

  # Such as north-vim: the path of the unit without the directories that Terragrunt generates.
  unit = replace(replace(replace(path_relative_to_include(), ".terragrunt-stack/", ""), "live/", ""), "/", "-")
}

remote_state {
  backend = "kubernetes"

  generate = {
    path      = "backend.tf"
    if_exists = "overwrite_terragrunt"
  }

  config = {
    secret_suffix = local.unit
    namespace     = local.state_namespace
    config_path   = local.kubeconfig
  }
}

generate "provider" {
  path      = "provider.tf"
  if_exists = "overwrite_terragrunt"

  contents = <<-EOF
    provider "vnf" {
      store = {
        kubernetes = {
          namespace       = "${local.store_namespace}"
          kubeconfig_path = "${local.kubeconfig}"
        }
      }
    }
  EOF
}
