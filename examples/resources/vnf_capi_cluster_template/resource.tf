resource "vnf_capi_cluster_template" "standard" {
  name = "standard-1.34"

  # The image, with the properties that it has in Glance.
  image = {
    name         = "ubuntu-2404-kube-v1.34.0"
    kube_version = "v1.34.0"
    os_distro    = "ubuntu"
  }

  control_plane_flavor = "m1.large"
  node_flavor          = "m1.medium"
  keypair              = "operations"
  external_network     = "public"
  dns_nameservers      = ["192.0.2.53"]

  labels = {
    octavia_provider      = "ovn"
    boot_volume_size      = "40"
    etcd_blockdevice_size = "10"
  }
}

output "definition" {
  value = jsondecode(vnf_capi_cluster_template.standard.definition)
}
