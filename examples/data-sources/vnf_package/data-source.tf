terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

variable "package_name" {
  description = "Name of a package that is onboarded in the store."
  type        = string
}

data "vnf_package" "current" {
  name = var.package_name
}

output "version" {
  value = "${data.vnf_package.current.product_name} ${data.vnf_package.current.software_version}, ${data.vnf_package.current.digest}"
}
