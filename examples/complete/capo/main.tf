provider "vnf" {
  store = { local = { path = var.store } }
}

# The management cluster: Cluster API and its provider for OpenStack run on it.
resource "vnf_vim" "management" {
  name = "management"

  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
  }
}

# The project of OpenStack that the servers of the cluster are in.
resource "vnf_vim" "cloud" {
  name = "cloud"

  openstack = {
    clouds_yaml_wo         = file(pathexpand(var.clouds))
    clouds_yaml_wo_version = 1
    cloud                  = var.cloud
  }
}

resource "vnf_capi_workload_cluster" "edge" {
  management_vim_id  = vnf_vim.management.id
  namespace          = var.namespace
  name               = "edge"
  kubernetes_version = var.kubernetes_version
  control_plane      = { replicas = var.control_planes }
  heal               = var.heal

  node_groups = {
    # With limits an autoscaler sets the number of these nodes; it is not drift.
    workers = {
      replicas     = var.autoscaler == null ? var.workers : null
      min_replicas = try(var.autoscaler.min, null)
      max_replicas = try(var.autoscaler.max, null)
    }
  }

  clusterctl_template = {
    content = file("${path.module}/cluster-template.yaml")
    variables = {
      API_ADDRESS        = local.api_address
      AVAILABILITY_ZONES = jsonencode(var.availability_zones)
      EXTERNAL_NETWORK   = var.external_network
      FIRST_ADDRESS      = cidrhost(var.subnet, 20)
      FLAVOR             = var.flavor
      IMAGE              = format(var.image, var.kubernetes_version)
      INTERFACE          = var.interface
      LAST_ADDRESS       = cidrhost(var.subnet, -6)
      SUBNET             = var.subnet
    }
  }

  # Cluster API gets an application credential of its own instead of the user's password.
  openstack = {
    vim_id                 = vnf_vim.cloud.id
    application_credential = { rotation_trigger = var.credential }
  }

  # Installed as soon as the API answers: without a network plugin no node becomes ready.
  addons = {
    flannel = {
      namespace = "kube-flannel"
      chart = {
        path       = var.flannel_chart
        repository = var.flannel_chart == null ? "https://flannel-io.github.io/flannel" : null
        name       = var.flannel_chart == null ? "flannel" : null
        version    = var.flannel_chart == null ? "v0.27.0" : null
      }
    }
  }
}

# The cluster as a VIM. No credentials of it are stored: the kubeconfig is read when it is needed.
resource "vnf_vim" "edge" {
  name       = "edge"
  kubernetes = { kubeconfig_ref = vnf_capi_workload_cluster.edge.kubeconfig_ref }
}

resource "vnf_package" "portal" {
  name   = "portal"
  source = "${path.module}/../../packages/portal"
}

# The network function on it.
resource "vnf_instance" "portal" {
  name       = "portal"
  vim_id     = vnf_vim.edge.id
  package_id = vnf_package.portal.id
  flavour_id = "default"
  namespace  = "portal"
}

locals {
  api_address = cidrhost(var.subnet, 10)
}
