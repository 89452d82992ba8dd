terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

data "vnf_packages" "all" {}

# Versions that another content has replaced and that something still uses.
output "superseded" {
  value = [for package in data.vnf_packages.all.packages : package.id if package.superseded]
}

output "software_versions" {
  value = {
    for package in data.vnf_packages.all.packages : package.name => package.software_version...
    if !package.superseded
  }
}
