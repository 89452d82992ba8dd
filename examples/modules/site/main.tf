resource "vnf_vim" "this" {
  name = var.name

  kubernetes = {
    kubeconfig_wo         = var.kubeconfig
    kubeconfig_wo_version = var.kubeconfig_version
  }
}
