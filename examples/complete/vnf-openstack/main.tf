provider "vnf" {
  store = { local = { path = var.store } }
}

resource "vnf_vim" "cloud" {
  name = "cloud"

  # The name of a cloud in clouds.yaml; its password reaches neither plan nor state.
  openstack = {
    clouds_yaml_wo         = file(pathexpand(var.clouds))
    clouds_yaml_wo_version = 1
    cloud                  = var.cloud
  }
}

resource "vnf_package" "firewall" {
  name   = "firewall"
  source = "${path.module}/../../packages/firewall"
}

resource "vnf_instance" "firewall" {
  name         = "firewall"
  vim_id       = vnf_vim.cloud.id
  package_id   = vnf_package.firewall.id
  flavour_id   = var.flavour
  scale_levels = { fw = var.level }

  ext_virtual_links = {
    control = {
      resource_id = var.control_network
      ext_cps     = { TG_CP1 = {} }
    }
    outside = {
      resource_id = var.outside_network
      ext_cps     = { FW_CP1 = {} }
    }
  }

  termination = { graceful_timeout = "20s" }
}

data "vnf_instance" "firewall" {
  id = vnf_instance.firewall.id

  # Read again after each scale, heal and change of package.
  depends_on = [vnf_instance.firewall]
}
