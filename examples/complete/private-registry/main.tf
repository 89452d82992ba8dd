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

resource "vnf_package" "registry" {
  name   = "private-registry"
  source = "${path.module}/../../packages/private-registry"
}

# The server: Heat makes it, and heals it.
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

  # Any image with Debian or Ubuntu will do.
  additional_params = {
    nfv = { VDU = { PrivateRegistryVDU = { vcImageId = var.image } } }
  }

  # A change of the trigger replaces the server once.
  heal = var.heal == null ? null : { trigger = var.heal, cause = "asked for" }
}

# The registry on it. When the server is replaced, its generation rises, and the registry
# is installed again in the same apply.
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
