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

resource "vnf_package" "cluster" {
  name   = "kubernetes-cluster"
  source = "${path.module}/../../packages/kubernetes-cluster"
}

# Masters, workers and a load balancer: Heat makes the servers, kubespray the cluster.
resource "vnf_instance" "cluster" {
  name       = "cluster"
  vim_id     = vnf_vim.cloud.id
  package_id = vnf_package.cluster.id

  ext_virtual_links = {
    masters = {
      resource_id = var.network
      ext_cps     = { masterNode_CP1 = {} }
    }
    workers = {
      resource_id = var.network
      ext_cps     = { workerNode_CP2 = {} }
    }
    balancer = {
      resource_id = var.network
      ext_cps     = { externalLB_CP1 = {} }
    }
  }

  scale_levels = { master_instance = var.masters, worker_instance = var.workers }

  heal = var.heal == null ? null : {
    trigger = var.heal
    cause   = "asked for"
    vdu_ids = length(var.heal_vdus) == 0 ? null : var.heal_vdus
  }

  additional_params = {
    nfv = { VDU = { for vdu in ["masterNode", "workerNode", "externalLB"] : vdu => { vcImageId = var.image } } }

    k8s_cluster_installation_param = {
      vim_name = "edge"
      ansible = {
        ip_address                  = var.ansible_address
        username                    = var.username
        kubespray_root_path         = var.kubespray_root_path
        transferring_inventory_path = "/home/${var.username}/inventory/edge"
      }
      master_node = {
        aspect_id       = "master_instance"
        ssh_cp_name     = "masterNode_CP1"
        nic_cp_name     = "masterNode_CP1"
        username        = var.username
        pod_cidr        = "10.233.64.0/18"
        cluster_cidr    = "10.233.0.0/18"
        cluster_cp_name = "masterNode_CP1"
      }
      worker_node = {
        aspect_id   = "worker_instance"
        ssh_cp_name = "workerNode_CP2"
        nic_cp_name = "workerNode_CP2"
        username    = var.username
      }
      external_lb_param = {
        ssh_cp_name  = "externalLB_CP1"
        ssh_username = var.username
        node_ports   = [30080]
      }

      # The nodes pull from a registry that the same apply installs.
      private_registry_connection_info = [
        { connection_type = "0", server = vnf_private_registry.registry.server },
      ]
    }
  }

  # Merged over additional_params; in neither plan nor state.
  additional_params_wo = {
    k8s_cluster_installation_param = {
      ansible           = { password = var.password }
      master_node       = { password = var.password }
      worker_node       = { password = var.password }
      external_lb_param = { ssh_password = var.password }
    }
  }
  additional_params_wo_version = 1

  timeouts = {
    create = "2h"
    update = "2h"
  }
}

# The server of the registry is a VNF instance of its own.
resource "vnf_package" "registry" {
  name   = "private-registry"
  source = "${path.module}/../../packages/private-registry"
}

resource "vnf_instance" "registry" {
  name       = "registry"
  vim_id     = vnf_vim.cloud.id
  package_id = vnf_package.registry.id
  flavour_id = "server"

  ext_virtual_links = {
    outside = {
      resource_id = var.network
      ext_cps     = { CP1 = {} }
    }
  }

  additional_params = {
    nfv = { VDU = { PrivateRegistryVDU = { vcImageId = var.image } } }
  }
}

resource "vnf_private_registry" "registry" {
  instance_id         = vnf_instance.registry.id
  instance_generation = vnf_instance.registry.generation
  ssh_cp_name         = "CP1"

  ssh = {
    username            = var.username
    password_wo         = var.password
    password_wo_version = 1
  }

  image_path = var.registry_archive
}

# The cluster is a VIM like any other: CNFs can be put onto it.
data "vnf_vim" "edge" {
  id         = vnf_instance.cluster.registered_vim_id
  depends_on = [vnf_instance.cluster]
}

data "vnf_instance" "cluster" {
  id = vnf_instance.cluster.id

  # Read again after each scale and heal.
  depends_on = [vnf_instance.cluster]
}
