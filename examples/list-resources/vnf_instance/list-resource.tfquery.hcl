# terraform query -generate-config-out=generated.tf, with Terraform 1.14 or newer.
# Generated configuration has no secrets: add additional_params_wo, and headers_wo of credentials_sink, with their versions.
list "vnf_instance" "core" {
  provider = vnf
  config {
    namespace = "core5g"
  }
}
