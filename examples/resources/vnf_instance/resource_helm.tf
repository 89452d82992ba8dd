resource "vnf_package" "ims" {
  name   = "ims"
  source = "${path.module}/../../packages/ims-helm"
}

# The VNFD of this package names a Helm chart, so the objects are those that the
# chart gives. They are planned, repaired and pruned like those of manifests, and
# `helm list -n ims-example` shows the release.
resource "vnf_instance" "ims" {
  name         = "ims"
  vim_id       = vnf_vim.edge.id
  package_id   = vnf_package.ims.id
  namespace    = "ims-example"
  scale_levels = { calls = 1 }

  additional_params = {
    # Override values of the chart; a key with a dot is a path.
    helm_parameters = {
      "cscf.domain" = "ims.example.org"
      hss           = { replicas = 1 }
    }
    # The count of this VDU is passed as a value; scaling renders the chart again.
    helm_value_names = { cscf = { replica = "cscf.replicas" } }
  }
}
