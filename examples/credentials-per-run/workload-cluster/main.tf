terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

# This block makes the cluster and reads its kubeconfig.
provider "vnf" {
  alias = "management"
}

variable "management_vim_id" {
  type = string
}

ephemeral "vnf_capi_workload_kubeconfig" "edge" {
  provider          = vnf.management
  management_vim_id = var.management_vim_id
  namespace         = "edge"
  name              = "edge"
}

# This one uses it. In one block it would be a cycle: the kubeconfig needs the provider, and the
# provider the kubeconfig.
provider "vnf" {
  vims = {
    edge = { kubernetes = { kubeconfig = ephemeral.vnf_capi_workload_kubeconfig.edge.kubeconfig } }
  }
}

resource "vnf_vim" "edge" {
  name = "edge"
}
