# The chart of a template may come from a repository or registry. Each cluster fetches it with its own credentials.
resource "vnf_capi_cluster_template" "addons" {
  name  = "addons-1.34"
  image = { name = "ubuntu-2404-kube-v1.34.0", kube_version = "v1.34.0", os_distro = "ubuntu" }

  chart = {
    oci     = "oci://registry.example.org/charts/openstack-cluster"
    version = "~0.16"
  }
}
