# terraform query -generate-config-out=generated.tf, with Terraform 1.14 or newer.
# Generated configuration has neither ssh nor tls nor users: add those that the registry has.
list "vnf_private_registry" "all" {
  provider = vnf
}
