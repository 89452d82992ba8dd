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

# The project of OpenStack that the servers and load balancers of the cluster are in.
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
  control_plane      = { replicas = var.control_planes, flavor = var.flavor }
  node_groups        = { workers = { replicas = var.workers, flavor = var.flavor } }

  # The chart that the provider embeds puts a load balancer with a floating IP in front of the API.
  chart = {
    name = "openstack"
    values = [yamlencode({
      machineImage      = "${var.image_prefix}${var.kubernetes_version}"
      clusterNetworking = { internalNetwork = { nodeCidr = var.subnet } }
      apiServer         = { loadBalancerProvider = var.load_balancer_provider }
    })]
  }

  network = {
    external  = { name = var.external_network }
    pod_cidrs = ["10.244.0.0/16"]
  }

  openstack = {
    vim_id                 = vnf_vim.cloud.id
    application_credential = { rotation_trigger = var.credential }

    # The application credential on the cluster, where the cloud controller manager reads it.
    cloud_config = { settings = { LoadBalancer = { manage-security-groups = "true" } } }

    # Nothing that the cloud controller manager made outlives the cluster.
    deletion_policy = { load_balancers = "delete", volumes = "delete" }
  }

  # The kubelets wait for both: a network plugin makes nodes ready, the cloud controller manager lets pods on them.
  addons = {
    cni   = { profile = "flannel", chart = var.flannel_chart == null ? null : { path = var.flannel_chart } }
    cloud = { profile = "openstack-cloud-controller-manager", chart = var.cloud_chart == null ? null : { path = var.cloud_chart } }
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

# The network function on it. Its Service of type LoadBalancer gets a load balancer with a floating IP.
resource "vnf_instance" "portal" {
  name       = "portal"
  vim_id     = vnf_vim.edge.id
  package_id = vnf_package.portal.id
  flavour_id = "default"
  namespace  = "portal"
}
