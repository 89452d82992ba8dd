# A cluster on an OpenStack, with an application credential of its own.
variable "openstack_password" {
  type      = string
  ephemeral = true
}

resource "vnf_vim" "cloud" {
  name = "cloud"

  openstack = {
    auth_url            = "https://cloud.example:5000/v3"
    region              = "RegionOne"
    username            = "nfv"
    project_name        = "edge"
    password_wo         = var.openstack_password
    password_wo_version = 1
  }
}

resource "vnf_capi_workload_cluster" "on_openstack" {
  management_vim_id  = vnf_vim.management.id
  namespace          = "edge"
  name               = "edge-2"
  kubernetes_version = "1.34.0"

  chart = {
    name   = "openstack"
    values = [yamlencode({ machineImage = "ubuntu-2404-kube-v1.34.0", clusterNetworking = { externalNetworkId = "public" } })]
  }

  # The credential is made, tried, and written into the Secret edge-2-cloud-credentials before the cluster, and removed
  # after it. It follows the user of the VIM; changing rotation_trigger replaces it in place.
  openstack = {
    vim_id                 = vnf_vim.cloud.id
    application_credential = { roles = ["member"], rotation_trigger = "2026-11" }
    deletion_policy        = { load_balancers = "delete" }
  }

  control_plane = { replicas = 3, flavor = "m1.large" }
  node_groups   = { workers = { replicas = 3, flavor = "m1.medium" } }
}
