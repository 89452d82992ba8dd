locals {
  vim     = yamldecode(file(var.vim_config))
  request = jsondecode(file(var.request))
}

resource "vnf_vim" "cloud" {
  name = "cloud"

  openstack = {
    auth_url                 = local.vim.auth_url
    username                 = local.vim.username
    password_wo              = local.vim.password
    password_wo_version      = 1
    user_domain_name         = local.vim.user_domain_name
    project_name             = local.vim.project_name
    project_domain_name      = local.vim.project_domain_name
    insecure_skip_tls_verify = try(local.vim.cert_verify, "True") != "True"
  }
}

resource "vnf_package" "firewall" {
  name   = "firewall"
  source = coalesce(var.package, "${path.module}/../../../packages/firewall")
}

resource "vnf_instance" "firewall" {
  name              = "firewall"
  vim_id            = vnf_vim.cloud.id
  package_id        = vnf_package.firewall.id
  flavour_id        = local.request.flavourId
  additional_params = local.request.additionalParams

  ext_virtual_links = {
    for link in local.request.extVirtualLinks : link.id => {
      resource_id = link.resourceId
      ext_cps = {
        for cp in link.extCps : cp.cpdId => {
          link_port_id = try([for config in cp.cpConfig : config.linkPortId][0], null)
          mac_address  = try([for config in cp.cpConfig : config.cpProtocolData[0].ipOverEthernet.macAddress][0], null)

          # The first entry of cpConfig says which addresses a port has, each entry which ones the port of one VNFC has.
          ip_addresses = [
            for n, address in try([for config in cp.cpConfig : config.cpProtocolData[0].ipOverEthernet.ipAddresses][0], []) : {
              subnet_id = try(address.subnetId, null)
              fixed_addresses = flatten([
                for config in cp.cpConfig : try(config.cpProtocolData[0].ipOverEthernet.ipAddresses[n].fixedAddresses, [])
              ])
            } if can(address.subnetId) || can(address.fixedAddresses)
          ]
        }
      }
    }
  }
}
