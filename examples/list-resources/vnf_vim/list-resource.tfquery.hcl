# terraform query -generate-config-out=generated.tf, with Terraform 1.14 or newer.
# Generated configuration has no credentials: add bearer_token_wo, kubeconfig_wo, password_wo or another one, and its version.
list "vnf_vim" "clouds" {
  provider = vnf
  config {
    type = "openstack"
  }
}
