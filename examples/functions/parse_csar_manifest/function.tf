terraform {
  required_providers {
    vnf = {
      source = "nfv-iac/vnf"
    }
  }
}

locals {
  manifest = provider::vnf::parse_csar_manifest(file("${path.module}/../../packages/hello/hello.mf"))
}

output "version" {
  value = local.manifest.metadata.vnf_package_version
}

output "files" {
  value = [for source in local.manifest.sources : source.path]
}
