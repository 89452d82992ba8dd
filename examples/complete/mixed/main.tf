provider "vnf" {
  store = { local = { path = var.store } }
}

resource "vnf_vim" "cloud" {
  name = "cloud"

  openstack = {
    clouds_yaml_wo         = file(pathexpand(var.clouds))
    clouds_yaml_wo_version = 1
    cloud                  = var.cloud
  }
}

resource "vnf_vim" "cluster" {
  name = "cluster"

  kubernetes = {
    kubeconfig_wo         = file(pathexpand(var.kubeconfig))
    kubeconfig_wo_version = 1
  }
}

resource "vnf_package" "firewall" {
  name   = "watched-firewall"
  source = "${path.module}/../../packages/watched-firewall"
}

# One VNF: its servers are on the OpenStack, its pods on the cluster.
resource "vnf_instance" "firewall" {
  name         = "watched-firewall"
  vim_id       = vnf_vim.cloud.id
  package_id   = vnf_package.firewall.id
  scale_levels = { fw = var.firewalls - 1, watch = var.watchers - 1 }

  vim_connections = {
    cluster = {
      vim_id    = vnf_vim.cluster.id
      namespace = var.namespace
      vdu_ids   = ["watcher"]
    }
  }

  # Networks are for the connection points of servers.
  ext_virtual_links = {
    outside = {
      resource_id = var.network
      ext_cps     = { FW_CP1 = { ip_addresses = [{ fixed_addresses = var.addresses }] } }
    }
  }

  # Each parameter goes to the VIM that knows it: collector to the template of the package, helm_parameters to its chart.
  additional_params = {
    collector = "${var.node_address}:${var.node_port}"
    helm_parameters = {
      firewalls = slice(var.addresses, 0, var.firewalls)
      collector = { type = "NodePort", nodePort = var.node_port }
    }
  }

  termination = { graceful_timeout = "20s" }
}
